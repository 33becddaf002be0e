# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# The programs of rdma-core and perftest: each QP type by plain verbs, and by
# librdmacm over IPoIB.

cells_addr=10.46.0.1

verbs_cells()
{
	local kind

	for kind in rc uc srq; do
		# -c compares what has arrived.
		cell "ibv_${kind}_pingpong" verbs pingpong "$kind" -c
	done
	cell ibv_ud_pingpong verbs pingpong ud -s 1024 -c
	cell ibv_xsrq_pingpong verbs xsrq_pingpong
	for kind in RC UC XRC; do
		cell ib_write_bw "$kind" perftest ib_write_bw -c "$kind"
		cell ib_send_bw "$kind" perftest ib_send_bw -c "$kind"
	done
	cell ib_read_lat RC perftest ib_read_lat
	cell ib_atomic_lat RC perftest ib_atomic_lat
	cell ib_send_lat UD perftest ib_send_lat -c UD
}

rdmacm_cells()
{
	local kind

	cell rping rdma_cm rping_pair
	cell rdma_xclient XRC pair rdma_xserver -c x -- \
		rdma_xclient -s $cells_addr -c x
	cell udaddy rdma_cm pair udaddy -b $cells_addr -- \
		udaddy -b $cells_addr -s $cells_addr
	cell rstream rsocket pair rstream -b $cells_addr -T v -S 4096 -C 50 -- \
		rstream -s $cells_addr -T v -S 4096 -C 50
	cell riostream rsocket pair riostream -b $cells_addr -T v -S 4096 -C 50 -- \
		riostream -s $cells_addr -T v -S 4096 -C 50
	cell "ib_send_bw -R" RC perftest ib_send_bw -R
	cell "ib_send_bw -R" XRC perftest_cm_xrc
	cell "ib_write_bw -R" RC perftest ib_write_bw -R
}

pingpong()
{
	local -a words=("ibv_$1_pingpong" -d "$cells_dev" -n 200 "${@:2}")

	pair "${words[@]}" -- "${words[@]}" localhost
}

xsrq_pingpong()
{
	local -a words=(ibv_xsrq_pingpong -d "$cells_dev" -n 50)

	pair "${words[@]}" -- "${words[@]}" localhost
}

perftest()
{
	local host=localhost
	local -a words=("$@" -d "$cells_dev" -n 200 -F)

	case " $* " in
	*' -R '*) host=$cells_addr ;;
	esac
	pair "${words[@]}" -- "${words[@]}" "$host"
}

perftest_cm_xrc()
{
	perftest ib_send_bw -R -c XRC >"$cells_tmp/xrc" && return
	cat "$cells_tmp/xrc"
	! grep -q 'XRC does not support RDMA_CM' "$cells_tmp/xrc" ||
		skipped 'perftest: XRC does not support RDMA_CM'
	return 1
}

# -V compares what comes back.
rping_pair()
{
	pair rping -s -a $cells_addr -C 20 -V -- \
		rping -c -a $cells_addr -C 20 -V
}
