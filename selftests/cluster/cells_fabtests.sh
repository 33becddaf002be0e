# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154
#
# libfabric's own tests, where $FABTESTS names an installed libfabric with fabtests.
# Debian packages neither these tests nor their source. The lists leave out what
# fabtests itself leaves out for the provider. Its runner gives a server one second to
# start, which is too short here. -v compares the data. The bandwidth tests send one
# length, since a window of the longest messages takes more memory than a guest has.

# What needs no peer. ADDR is an address of the adapter.
fabtests_alone='
	fi_getinfo_test -s ADDR ADDR
	fi_av_test -g ADDR -n 1 -s ADDR -e rdm
	fi_dom_test -n 2
	fi_eq_test
	fi_mr_test
	fi_cntr_test
	fi_setopt_test'
# Connected endpoints.
fabtests_msg='
	fi_msg
	fi_msg_epoll
	fi_cm_data
	fi_cq_data -e msg -o senddata
	fi_cq_data -e msg -o writedata
	fi_multi_ep -e msg -v
	fi_msg_pingpong -I 5 -v -S 65536
	fi_msg_bw -I 5 -v -S 65536
	fi_rma_bw -e msg -o write -I 5 -S 65536
	fi_rma_bw -e msg -o read -I 5 -S 65536
	fi_rma_bw -e msg -o writedata -I 5 -S 65536'
# Endpoints of reliable datagrams.
fabtests_rdm='
	fi_rdm
	fi_rdm -U
	fi_av_xfer -e rdm
	fi_cq_data -e rdm -o senddata
	fi_cq_data -e rdm -o writedata
	fi_rdm_tagged_peek
	fi_recv_cancel -e rdm -V
	fi_unexpected_msg -e rdm -I 10 -v
	fi_inject_test -A inject -v
	fi_multi_recv -e rdm -I 5 -S 65536
	fi_multi_ep -e rdm -v
	fi_rdm_pingpong -I 5 -v -S 65536
	fi_rdm_tagged_pingpong -I 5 -v -S 65536
	fi_rdm_tagged_bw -I 5 -v -S 65536
	fi_rdm_cntr_pingpong -I 5 -S 65536
	fi_rma_bw -e rdm -o write -I 5 -S 65536
	fi_rma_bw -e rdm -o read -I 5 -S 65536
	fi_rma_bw -e rdm -o writedata -I 5 -S 65536'

fabtests_cells()
{
	[ -n "${FABTESTS-}" ] || return 0
	fabtests_list verbs fabtests_one "$fabtests_alone"
	fabtests_list verbs fabtests_two "$fabtests_msg"
	fabtests_list 'verbs;ofi_rxm' fabtests_two "$fabtests_rdm"
	fabtests_list 'verbs;ofi_rxm, XRC' fabtests_xrc fi_rdm
	fabtests_list 'verbs;ofi_rxm, monitor' fabtests_monitor "$fabtests_rdm"
}

# fabtests_list TRANSPORT CMD LIST: a cell for each test of the list, which CMD runs over
# the provider that TRANSPORT begins with
fabtests_list()
{
	local test

	while read -r test; do
		[ -z "$test" ] ||
			cell fabtests "$1: $test" "$2" "${1%%,*}" "$test"
	done <<<"$3"
}

# fabtests_says STATUS: a test is skipped if its provider has no such endpoint
fabtests_says()
{
	cat "$cells_tmp/test"
	! grep -q 'fi_getinfo().*ret=-61' "$cells_tmp/test" ||
		skipped 'the provider has no such endpoint (ENODATA)'
	return "$1"
}

fabtests_env()
{
	export LD_LIBRARY_PATH=$FABTESTS/lib PATH=$FABTESTS/bin:$PATH
	cells_limit=$((60 * ${MLX5_EP_SLOWNESS:-1}))
}

fabtests_one()
{
	local -a words
	local status=0

	fabtests_env
	read -ra words <<<"${2//ADDR/$cells_addr}"
	timeout $cells_limit "${words[@]}" -p "$1" >"$cells_tmp/test" 2>&1 ||
		status=$?
	fabtests_says $status
}

# fabtests_two PROVIDER TEST [OPTION...]: server and client get the options
fabtests_two()
{
	local -a words
	local status=0

	fabtests_env
	read -ra words <<<"$2"
	words+=(-p "$1" -s "$cells_addr" "${@:3}")
	pair "${words[@]}" -- "${words[@]}" "$cells_addr" \
		>"$cells_tmp/test" 2>&1 || status=$?
	fabtests_says $status
}

# One test shows whether libfabric's XRC endpoints connect at all.
fabtests_xrc()
{
	xrc_or_skip fabtests_two "$@"
}

# With the monitor of libmlx5ep-fi, which libfabric finds in its folder of providers.
fabtests_monitor()
{
	export FI_PROVIDER_PATH=$PWD/build/lib
	fabtests_two "$@"
}
