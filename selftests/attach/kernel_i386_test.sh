#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, long: yes, timeout: 480
#
# Programs of 32 bits on a kernel of 64: the library, the tool and tests that make each
# call of the kernel interface, with the libibverbs and libmlx5 of an older rdma-core.
#
# With the argument "guest" this script is what runs in the guest.

cd "$(dirname "$0")/../.."
top=$PWD
programs=(uuar_query uuar_placement notifier_growth watch_edges xrc_bad_input xrc_ofed
	xrc_rcv_qp xrc_values dmabuf_watch)

# guest: runs them, and prints a line for each
guest()
{
	local name status

	ln -sf "$top/build/i386/root/lib/ld-linux.so.2" /usr/lib/ld-linux.so.2
	ln -s "$top/build/i386/root/lib" /usr/lib/i386-linux-gnu
	mount --bind "$top/build/i386/bin" "$top/build/bin"
	mount --bind "$top/build/i386/lib" "$top/build/lib"
	mount --bind "$top/build/i386/selftests" "$top/build/selftests"
	export LD_LIBRARY_PATH=/usr/lib/i386-linux-gnu
	od -An -tx1 -j4 -N1 build/bin/mlx5ep | tr -d ' ' | sed 's/^/class: /'
	for name in "${programs[@]}"; do
		status=0
		"build/selftests/${name}_test" || status=$?
		echo "ended: $name $status"
	done
	status=0
	build/bin/mlx5ep selftest mlx5_0 || status=$?
	echo "ended: selftest $status"
}

if [ "${1-}" = guest ]; then
	guest
	exit
fi
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=lab/lib.sh
. lab/lib.sh

# libraries: what the programs load, where the guest sees it
libraries()
{
	local to=build/i386/root/lib from

	lab_arch i386
	from=$arch_dir/root/usr/lib/i386-linux-gnu
	rm -rf build/i386/root
	mkdir -p $to/libibverbs
	cp -a "$from"/lib{ibverbs,mlx5,nl-3,nl-route-3,json-c}.so.* $to/
	cp -a "$from"/libibverbs/libmlx5-*.so $to/libibverbs/
	cp -a "$arch_dir/tools/usr/$arch_triplet/lib"/*.so.* $to/
}

run_guest()
{
	lab/build-programs i386 >"$tmp/build" 2>&1 || {
		tail -n 20 "$tmp/build"
		fail 'the programs do not compile'
	}
	libraries
	lab/vm --kernel "${MLX5_EP_KERNEL:-7.2}" --smp 2 --timeout 450 \
		-- "$0" guest >"$tmp/out" 2>&1 || {
		tail -n 40 "$tmp/out"
		fail 'the guest failed'
	}
	grep -qx 'class: 01' "$tmp/out" || fail 'mlx5ep is not of 32 bits'
}

# passed PROGRAM: it ended well, and prints what did not
passed()
{
	grep -qx "ended: $1 0" "$tmp/out" || {
		grep -E '^not ok|failed|ended: ' "$tmp/out" | head -n 40
		fail "$1 failed"
	}
}

plan $((${#programs[@]} + 2))
check 'the programs have 32 bits and run' run_guest
for name in "${programs[@]}"; do
	check "$name" passed "$name"
done
check 'every check of the tool' passed selftest
ktap_finished
