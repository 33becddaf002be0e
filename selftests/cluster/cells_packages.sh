# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Programs of Debian that are not in the lab, between two processes: qperf and fio by
# verbs; iperf over rsockets, which take the place of the sockets of a program that knows
# nothing of RDMA; mpi4py and HPCC over Open MPI and UCX. qperf compares what its atomic
# operations leave, fio what it reads back, the script of mpi4py each byte, HPCC residuals.
# `fetch` has unpacked them beside the MPIs.

packages_cells()
{
	local test

	[ -x $cells_mpi/usr/bin/fio ] || return 0
	mpi_compile
	for test in rc_bw uc_bw ud_lat ver_rc_compare_swap ver_rc_fetch_add; do
		cell qperf $test pair qperf -lp 19800 -- qperf -lp 19800 $cells_addr \
			-t 1 -n 200 $test quit
	done
	cell fio rdma fio_pair
	cell iperf rsocket iperf_pair
	export UCX_NET_DEVICES=$cells_dev:1 UCX_VFS_ENABLE=n UCX_TLS=rc_x,self
	mpi_launcher openmpi 2
	cell mpi4py rc_x said '^mpi4py: right$' "${launcher[@]}" \
		python3 selftests/cluster/mpi4py_checked.py
	cell hpcc rc_x hpcc_small "${launcher[@]}"
	unset UCX_NET_DEVICES UCX_VFS_ENABLE UCX_TLS
}

# The server stores what it is sent in its own memory; the client reads it again.
fio_pair()
{
	local -a words=(--name=cell --ioengine=rdma --bs=16k --size=1M --iodepth=4
		--port=19802 --thread)

	pair fio "${words[@]}" --rw=read -- \
		fio "${words[@]}" --rw=write --hostname=$cells_addr --verb=write
}

iperf_pair()
{
	local preload

	preload=LD_PRELOAD=$(ls /usr/lib/*/rsocket/librspreload.so)
	pair env "$preload" iperf -s -P 1 -p 19801 -B $cells_addr -- \
		env "$preload" iperf -c $cells_addr -p 19801 -n 4M
	grep -q 'MBytes' "$cells_tmp/server"
}

# hpcc_settings: a small matrix of two processes, one of each choice that HPL has. The words
# behind the numbers are not read, nor are the first two lines and the 32nd one.
hpcc_settings()
{
	cat <<-END
	settings of HPCC
	in the order of HPL.dat
	hpl.out	its output
	8	into that file
	1	matrix,
	200	of this size
	1	size of a block:
	40
	0	processes by rows
	1	grid,
	1	high
	2	wide
	16.0	largest residual
	1	factorization of a panel:
	2	right-looking
	1	recursion ends
	4	at this width,
	1	split
	2	into so many,
	1	by
	1	Crout's
	1	broadcast:
	1	modified ring
	1	look ahead
	1	by one
	2	swaps: mixed,
	64	from this width on
	0	transposed
	0	likewise
	1	balanced
	8	alignment
	-
	0	more sizes of the transposition
	0
	0	more blocks
	0
	END
}

hpcc_small()
{
	hpcc_settings >"$cells_tmp/hpccinf.txt"
	(
		cd "$cells_tmp" || exit
		rm -f hpccoutf.txt
		# Debian links to it when the package is installed.
		LD_LIBRARY_PATH=$(dirname /usr/lib/*/blas/libblas.so.3)
		export LD_LIBRARY_PATH
		timeout $cells_limit "$@" hpcc
		grep -E '^Success=|FAILED|PASSED' hpccoutf.txt
		grep -q '^Success=1$' hpccoutf.txt
		! grep -q 'FAILED' hpccoutf.txt
	)
}
