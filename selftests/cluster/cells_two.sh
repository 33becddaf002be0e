# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154
#
# Two guests with an HCA each: perftest by librdmacm and by XRC, the programs of
# librdmacm, and SMC-R over Ethernet. Guest 1 runs the servers, guest 0 the clients, and the
# cells are those of guest 0. Both call the same functions in the same order. They wait for
# each other by files below $out, which both see.

two_server=10.46.0.2
two_link=$(cat "/sys/class/infiniband/$cells_dev/ports/1/link_layer")
# Seconds that one waits for the other.
two_limit=$((120 * ${MLX5_EP_SLOWNESS:-1}))

two_cells()
{
	local kind

	for kind in RC XRC; do
		two ib_send_bw "$kind" perftest_two ib_send_bw -c "$kind"
		two ib_write_bw "$kind" perftest_two ib_write_bw -c "$kind"
	done
	two "ib_send_bw -R" RC perftest_two ib_send_bw -R
	two "ib_write_bw -R" RC perftest_two ib_write_bw -R
	two "ib_read_bw -R" RC perftest_two ib_read_bw -R
	two rping rdma_cm rping_two
	two rdma_xclient XRC xrc_two
	[ "$two_link" != Ethernet ] || two smc SMC-R smc_two
}

# two PROGRAM TRANSPORT CMD...: CMD is called in both guests, and calls far
two()
{
	local over="two guests, $two_link, $2" name

	name=$1/$over
	two_file=$out/two.$state.${name//[ \/]/_}
	if [ "$MLX5_EP_GUEST" = 0 ]; then
		cell "$1" "$over" "${@:3}"
		# Also where the cell has failed before it called the client.
		touch "$two_file.over"
		return
	fi
	# shellcheck disable=SC2254 # it is a pattern
	case $name in
	$only) "${@:3}" || true ;;
	esac
}

# two_wait FILE
two_wait()
{
	local i

	for ((i = 0; i < two_limit * 5; i++)); do
		[ ! -e "$1" ] || return 0
		sleep 0.2
	done
	echo "the other guest did not answer"
	return 1
}

# far SERVER... -- CLIENT...: the server in guest 1, the client in guest 0; both have
# to succeed
far()
{
	local -a server=()

	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	if [ "$MLX5_EP_GUEST" = 1 ]; then
		far_server "${server[@]}"
		return
	fi
	two_wait "$two_file.listens"
	timeout "$cells_limit" "$@" || { touch "$two_file.over" && return 1; }
	touch "$two_file.over"
	two_wait "$two_file.status"
	cat "$two_file.said"
	[ "$(cat "$two_file.status")" = 0 ]
}

far_server()
{
	local status=0

	serve "$two_file.said" "$@"
	touch "$two_file.listens"
	two_wait "$two_file.over" || true
	serve_end || status=$?
	echo $status >"$two_file.part"
	mv "$two_file.part" "$two_file.status"
}

perftest_two()
{
	local -a words=("$@" -d "$cells_dev" -n 200 -F)

	far "${words[@]}" -- "${words[@]}" $two_server
}

# -V compares what comes back.
rping_two()
{
	far rping -s -a $two_server -C 20 -V -- rping -c -a $two_server -C 20 -V
}

xrc_two()
{
	far rdma_xserver -c x -- rdma_xclient -s $two_server -c x
}

# SMC goes back to TCP without a word, and then the kernel has no connected QP that has rung.
smc_two()
{
	local smc=selftests/attach/smc.py

	modprobe -q smc || skipped 'this kernel has no SMC'
	[ "$MLX5_EP_GUEST" != 0 ] || simhca-ctl '{"op":"reset"}'
	far $smc serve $two_server -- $smc ask $two_server
	[ "$MLX5_EP_GUEST" = 0 ] || return 0
	simhca-ctl dump | jq -e '[.hcas[].qps[] |
		select(.type == "rc" and .state == "rts" and (.user | not)) |
		.doorbells + .blueflame] | add | . >= 20'
}
