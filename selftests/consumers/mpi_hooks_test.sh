#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, smp: 2, timeout: 400
#
# Debian's Open MPI loads UCX into each process, also where it does not use it (pml ob1), and
# libucm patches eight functions of libc there. Open MPI patches seven of them too. With
# libmlx5ep-ucx UCX patches none. A process that does not use UCX hears nothing of the
# library, and is not ended where `strict` is asked for. One that does is told by mlx5_ep,
# also while Open MPI's hooks tell UCX of each munmap(), so that UCX skips a search.
#
# With the word guest this script is what runs in the guest.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/cluster/mpi.sh
. selftests/cluster/mpi.sh

out=build/mpi-hooks
mpi=build/mpi-hooks-mpi
seven='munmap mmap mremap madvise shmat shmdt brk'

# --- in the guest ------------------------------------------------------------

# run NAME OPTION...: two processes of Open MPI; what they say is in the file NAME
run()
{
	timeout $((100 * ${MLX5_EP_SLOWNESS:-1})) mpirun.openmpi --allow-run-as-root \
		--oversubscribe -n 2 "${@:2}" >"$out/$1" 2>&1 </dev/null ||
		echo "exit status $?" >>"$out/$1"
	sed "s/^/$1: /" "$out/$1"
}

in_guest()
{
	local with=(-x "LD_PRELOAD=$PWD/build/lib/libmlx5ep-ucx.so.0"
		-x 'MLX5EP_UCX=strict,verbose')
	local unused=(--mca pml ob1 --mca btl 'self,sm') program=$out/mpi_hooks
	local alone=(--mca memory '^patcher')

	mpi_show $mpi
	ip link set lo up
	export UCX_NET_DEVICES=${MLX5_EP_DEVICE:-mlx5_0}:1 UCX_VFS_ENABLE=n
	run unused "${unused[@]}" "$program"
	run unused-library "${unused[@]}" "${with[@]}" "$program"
	run unused-alone "${unused[@]}" "${alone[@]}" "$program"
	run unused-alone-library "${unused[@]}" "${alone[@]}" "${with[@]}" "$program"
	run used-library --mca pml ucx "${with[@]}" "$program"
	run used-alone-library --mca pml ucx "${alone[@]}" "${with[@]}" "$program"
	run corrupt "${unused[@]}" "$program" -c
}

# --- on the host -------------------------------------------------------------

programs_run()
{
	rm -rf $out
	mkdir -p $out
	mpi_fetch $mpi
	lab/enter --contain selftests/consumers/mpi_hooks_test.sh compile
	lab/vm --kernel "${MLX5_EP_KERNEL:-7.2}" --smp 2 --mem 2G --timeout 1500 -- \
		selftests/consumers/mpi_hooks_test.sh guest
}

compile()
{
	mpi_show $mpi
	mpicc.openmpi -std=gnu11 -O2 -Wall -Wextra -o $out/mpi_hooks \
		selftests/cluster/mpi_hooks.c
}

# patched NAME FUNCTIONS: these were patched, UCX was loaded, and all messages were right
patched()
{
	cat "$out/$1"
	grep -qx "mpi_hooks: patched: $2" "$out/$1"
	grep -qx 'mpi_hooks: UCX is loaded' "$out/$1"
	grep -qx 'mpi_hooks: wrong 0 of 40' "$out/$1"
	must_fail grep 'exit status' "$out/$1"
}

without()
{
	patched unused "$seven sbrk"
	patched unused-alone "$seven sbrk"
}

with_library()
{
	patched unused-library "$seven"
	patched unused-alone-library none
	must_fail grep mlx5ep-ucx "$out"/unused-*library
}

used()
{
	local name

	patched used-library "$seven"
	patched used-alone-library none
	for name in used-library used-alone-library; do
		[ "$(grep -cx 'mlx5ep-ucx: UCX is told by mlx5_ep' "$out/$name")" = 2 ]
		[ "$(grep -c '^mlx5ep-ucx: changed [1-9]' "$out/$name")" = 2 ]
		must_fail grep 'mlx5ep-ucx: .*hooks' "$out/$name"
	done
}

notices()
{
	grep -qx 'mpi_hooks: wrong 1 of 40' "$out/corrupt"
}

case ${1:-} in
guest) in_guest; exit ;;
compile) compile; exit ;;
esac
plan 5
check 'the programs run' programs_run
check 'UCX patches libc in a process that does not use it' without
check 'with the library it does not, and nothing is said' with_library
check 'UCX that is used is told by mlx5_ep, beside the hooks of Open MPI' used
check 'a wrong byte is noticed' notices
ktap_finished
