# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154
#
# Debian's libfabric over each kind of endpoint that its verbs provider has.
# fi_pingpong -c compares what arrives.

libfabric_cells()
{
	cell fi_pingpong 'verbs, msg' fi_over verbs msg 65536
	cell fi_pingpong 'verbs, dgram' fi_over verbs dgram 4096
	cell fi_pingpong 'verbs;ofi_rxm' fi_over 'verbs;ofi_rxm' rdm 65536
	cell fi_pingpong 'verbs;ofi_rxd' fi_over 'verbs;ofi_rxd' rdm 4096
	cell fi_pingpong 'verbs;ofi_rxm, monitor' fi_monitor
	cell fi_pingpong 'verbs;ofi_rxm, XRC' fi_xrc
}

# fi_over PROVIDER ENDPOINT BYTES [OPTION...]: the data of 60 messages each way is right,
# and the processes have rung the adapter
fi_over()
{
	local -a words=(fi_pingpong -c -I 60 -p "$1" -e "$2" -S "$3" "${@:4}")
	local status=0

	simhca-ctl '{"op":"reset"}'
	pair "${words[@]}" -- "${words[@]}" "$cells_addr" >"$cells_tmp/fi" ||
		status=$?
	cat "$cells_tmp/fi"
	[ $status = 0 ] || return $status
	grep -q '^[46]4*k .*=60 ' "$cells_tmp/fi"
	simhca-ctl dump | jq -e '[.hcas[0].uars[].slots[] |
		.doorbells + .blueflame] | add | . >= 100'
}

# With the monitor of libmlx5ep-fi, which libfabric finds by itself in its folder of
# providers.
fi_monitor()
{
	export FI_PROVIDER_PATH=$PWD/build/lib MLX5EP_FI_MONITOR=verbose
	fi_over 'verbs;ofi_rxm' rdm 65536 2>&1
	# Without the module libfabric goes on with a monitor of its own.
	[ "$state" = absent ] ||
		grep -q '^mlx5ep-fi: subscribed [1-9]' "$cells_tmp/server"
}

# ofi_rxm gives XRC endpoints what they need, a shared receive context. It tries again
# for ever where its QP cannot be created.
fi_xrc()
{
	cells_limit=$((30 * ${MLX5_EP_SLOWNESS:-1}))
	xrc_or_skip fi_over 'verbs;ofi_rxm' rdm 65536
}

# xrc_or_skip CMD...: runs CMD, with further options for its programs, over XRC
# endpoints; a skip where libfabric cannot create the send QP of one
xrc_or_skip()
{
	local why='XRC INI QP rdma_create_qp_ex failed'

	export FI_VERBS_PREFER_XRC=1 FI_OFI_RXM_USE_SRX=1 FI_LOG_LEVEL=warn
	("$@" -d "$cells_dev-xrc") >"$cells_tmp/xrc" 2>&1 && return
	tail -n 50 "$cells_tmp/xrc"
	! grep -q "$why" "$cells_tmp/xrc" || skipped "libfabric: $why"
	return 1
}
