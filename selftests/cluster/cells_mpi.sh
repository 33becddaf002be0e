# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Debian's Open MPI and MPICH, both over UCX, between two processes. mpi_checked
# compares each value that arrives. mpi_nbc does the collectives of nbc_check, and
# both have to have the same results. mpi_remapped compares values in buffers that
# are unmapped and mapped anew between two messages.
#
# The lab has neither. `fetch` has unpacked them into a folder of build/, which the
# guest shows above its own /usr.

cells_mpi=build/consumers-mpi

mpi_cells()
{
	local tls column name
	local -a launcher

	[ -d $cells_mpi/usr ] || return 0
	mpi_compile
	# As in cells_ucx.sh.
	export UCX_NET_DEVICES=$cells_dev:1 UCX_VFS_ENABLE=n
	for tls in rc_v rc_x ib; do
		for name in mpich openmpi; do
			mpi_launcher $name 2
			cell $name $tls mpi_over $tls "${launcher[@]}" \
				"$cells_tmp/$name"
		done
	done
	for name in mpich openmpi; do
		mpi_launcher $name 3
		cell $name nbc mpi_nbc "${launcher[@]}" "$cells_tmp/${name}_nbc"
	done
	for name in mpich openmpi; do
		mpi_launcher $name 3
		cell $name run mpi_run $name "${launcher[@]}"
	done
	for column in hooks hooks-off library; do
		for name in mpich openmpi; do
			mpi_launcher $name 2
			cell $name "remapped, $column" mpi_remapped $name \
				$column "${launcher[@]}"
		done
	done
	unset UCX_NET_DEVICES UCX_VFS_ENABLE
}

# mpi_compile: once in a guest
mpi_compile()
{
	local name

	[ ! -e "$cells_tmp/openmpi" ] || return 0
	mpi_show $cells_mpi
	ip link set lo up
	for name in mpich openmpi; do
		"mpicc.$name" -O2 -pthread -o "$cells_tmp/$name" \
			selftests/cluster/mpi_checked.c
		"mpicc.$name" -O2 -D_GNU_SOURCE -Iworkloads \
			-o "$cells_tmp/${name}_nbc" workloads/mpi/mpi_{nbc,begin}.c \
			workloads/nbc/{plan,fold}.c -lm
		"mpicc.$name" -O2 -o "$cells_tmp/$name-remapped" \
			selftests/cluster/mpi_remapped.c
	done
}

# mpi_over TRANSPORT CMD...: each part of mpi_checked is right, and the processes have
# rung the adapter
mpi_over()
{
	local part

	simhca-ctl '{"op":"reset"}'
	# Without other transports, as two processes of one node would use memory.
	UCX_TLS=$1 said '^mpi_checked: after a fork: right$' "${@:2}"
	for part in messages collectives one-sided threads; do
		grep -q "^mpi_checked: $part: right$" "$cells_tmp/said"
	done
	simhca-ctl dump | jq -e '[.hcas[0].uars[].slots[] |
		.doorbells + .blueflame] | add | . >= 100'
}

# mpi_run PROGRAM LAUNCHER...: each process asks for its own policy, so no two QPs
# share a UAR page, whatever the policy of the device is; and libmlx5ep-ucx tells UCX
mpi_run()
{
	local program=$1

	shift
	simhca-ctl '{"op":"reset"}'
	MLX5EP_UCX=verbose UCX_TLS=rc_v \
		said '^mpi_checked: after a fork: right$' "$@" \
		build/bin/mlx5ep run --policy independent --pages 16 -- \
		build/bin/mlx5ep run -- "$cells_tmp/$program"
	# Without the module the program runs all the same.
	[ "$state" != absent ] || return 0
	grep -q '^mlx5ep-ucx: changed [0-9]' "$cells_tmp/said"
	simhca-ctl dump | jq -e '[.hcas[0].uars[] | select(.uid > 0) |
		[.slots[].qpns | keys[]] | length | select(. > 0)] |
		length >= 9 and all(. == 1)'
}

# mpi_nbc LAUNCHER... PROGRAM: the results of random collectives are those of nbc_check
mpi_nbc()
{
	local ours=$cells_tmp/nbc.ours theirs=$cells_tmp/nbc.theirs seed

	[ "$state" != absent ] || skipped 'the transport needs the module'
	for seed in 1 2; do
		rm -rf "$ours" "$theirs"
		mkdir "$ours" "$theirs"
		said ' wrong=0$' nbc_check -n 3 -r 8 -s $seed -o "$ours"
		UCX_TLS=rc_x said ' wrong=0$' "$@" "$theirs" 8 $seed
		[ "$(cat "$ours"/* | wc -l)" -ge 100 ]
		diff -r "$ours" "$theirs"
	done
}

# mpi_remapped PROGRAM COLUMN LAUNCHER...: who tells UCX of changes, and what is seen
#   hooks      UCX's or Open MPI's; they miss what passes no function of glibc
#   hooks-off  nobody
#   library    mlx5ep run; without the module that leaves the hooks
mpi_remapped()
{
	local program=$1 column=$2
	local -a words=("${@:3}")

	case $column in
	hooks-off)
		export UCX_MEM_MMAP_HOOK_MODE=none
		[ "$program" != openmpi ] ||
			words+=(--mca opal_common_ucx_opal_mem_hooks 0)
		words+=("$cells_tmp/$program-remapped" hooks-off)
		;;
	hooks) words+=("$cells_tmp/$program-remapped") ;;
	library) words+=(build/bin/mlx5ep run -- "$cells_tmp/$program-remapped") ;;
	esac
	UCX_TLS=ib UCX_RNDV_THRESH=0 UCX_ZCOPY_THRESH=0 \
		said '^mpi_remapped: ftruncate by another process' "${words[@]}"
	case $column/$state in
	hooks-off/*) mpi_stale 0 5 ;;
	hooks/* | */absent) mpi_stale 1 4 ;;
	library/*) mpi_stale 5 0 ;;
	esac
}

# mpi_stale RIGHT STALE: so many of the changes were not stale, so many were; where
# some are right, munmap() is one of them
mpi_stale()
{
	[ "$(grep -c '^mpi_remapped: .* stale 0 of ' "$cells_tmp/said")" = "$1" ]
	[ "$(grep -c '^mpi_remapped: .* stale [1-9]' "$cells_tmp/said")" = "$2" ]
	[ "$1" = 0 ] || grep -q '^mpi_remapped: munmap(): stale 0 ' "$cells_tmp/said"
}
