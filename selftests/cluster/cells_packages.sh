# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Programs of Debian that are not in the lab, between two processes: qperf and fio by
# verbs; iperf over rsockets, which take the place of the sockets of a program that knows
# nothing of RDMA; mpi4py, HPCC and OpenSHMEM over Open MPI and UCX; gloo; Ceph's messages,
# and the paths that ibacm finds. qperf compares what its atomic operations leave, fio what
# it reads back, the programs for mpi4py, OpenSHMEM and gloo each element, HPCC residuals,
# Ceph a checksum of each message, ibacm what the subnet administrator says.
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
	cell ceph_perf_msgr async+rdma ceph_pair
	cell gloo verbs gloo_pair
	cell ibacm umad ibacm_verifies
	export UCX_NET_DEVICES=$cells_dev:1 UCX_VFS_ENABLE=n UCX_TLS=rc_x,self
	mpi_launcher openmpi 2
	cell mpi4py rc_x said '^mpi4py: right$' "${launcher[@]}" \
		python3 selftests/cluster/mpi4py_checked.py
	cell hpcc rc_x hpcc_small "${launcher[@]}"
	cell openshmem rc_x openshmem_checked
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

# The server does not end by itself.
ceph_pair()
{
	local status=0
	local -a words=(--no-mon-config --ms_type=async+rdma --ms_public_type=async+rdma
		--ms_async_rdma_device_name="$cells_dev" --ms_async_rdma_receive_buffers=1024
		--ms_async_rdma_receive_queue_len=128 --ms_async_rdma_send_buffers=256
		--auth_cluster_required=none --auth_service_required=none
		--auth_client_required=none)

	export CEPH_ARGS="${words[*]}"
	ulimit -l unlimited
	serve "$cells_tmp/server" ceph_perf_msgr_server $cells_addr:19803 1 0
	timeout $cells_limit ceph_perf_msgr_client $cells_addr:19803 1 4 100 0 4096 ||
		status=$?
	kill "$server_pid"
	wait "$server_pid" || true
	sed 's/^/server: /' "$cells_tmp/server"
	return $status
}

gloo_pair()
{
	local meet=$cells_tmp/gloo status=0 other

	rm -rf "$meet"
	mkdir "$meet"
	timeout $cells_limit $cells_mpi/gloo_checked 1 2 "$meet" $cells_dev &
	other=$!
	timeout $cells_limit $cells_mpi/gloo_checked 0 2 "$meet" $cells_dev || status=$?
	wait $other || status=$?
	return $status
}

# -v compares the path with that of the subnet administrator. The daemon takes a moment
# until it knows its address.
ibacm_verifies()
{
	local dir=$cells_tmp/acm pid i

	modprobe ib_umad
	rm -rf "$dir"
	mkdir "$dir"
	ib_acme -A -O -D "$dir"
	ibacm -P -A "$dir/ibacm_addr.cfg" -O "$dir/ibacm_opts.cfg" >"$dir/log" 2>&1 &
	pid=$!
	for ((i = 0; i < 50; i++)); do
		if timeout $cells_limit ib_acme -f i -s $cells_addr -d $cells_addr -v \
			>"$dir/said" 2>&1 && grep '^SA verification: success' "$dir/said"; then
			break
		fi
		sleep 0.2
	done
	kill $pid
	wait $pid || true
	cat "$dir/said"
	[ $i -lt 50 ]
}

openshmem_checked()
{
	oshcc -O2 -o "$cells_tmp/shmem_checked" selftests/cluster/shmem_checked.c
	said '^openshmem: right$' oshrun --allow-run-as-root --oversubscribe -n 2 \
		"$cells_tmp/shmem_checked"
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
