#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 30
#
# Which results mlx5_ep/vm prints: those of the run that it has started, and none that
# another run has left or is writing. A guest is a process of this machine.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

tree=$tmp/tree
left=$tree/build/check/debug
mkdir -p "$tree"/{selftests/{area,kselftest},lab,userlib}
cp -r selftests/run selftests/lib selftests/runner "$tree/selftests"
rm -f "$tree"/selftests/runner/*_test.*
cp selftests/kselftest/vm "$tree/selftests/kselftest"
cat >"$tree/lab/lib.sh" <<'END'
lab_dir=.
lab_is_path() { [[ $1 = */* ]]; }
END
cat >"$tree/lab/kernel" <<'END'
#!/bin/sh
echo "kernel: $1 is not built" >&2
exit 1
END
cat >"$tree/lab/vm" <<'END'
#!/usr/bin/env bash
while [ "$1" != -- ]; do shift; done
[ ! -e replaced ] || echo 1 >build/check/owner
export KLOG_DEVICE=/dev/null
"${@:2}"
END
printf '#!/bin/sh\n[ ! -e no-kernel ] || { echo no kernel; exit 1; } >&2\n' \
	>"$tree/lab/debug-kernel"
printf '#!/usr/bin/env bash\n# runs on: guest\necho 1..1; echo ok 1 a\n' \
	>"$tree/selftests/area/good_test.sh"
chmod +x "$tree"/lab/* "$tree"/selftests/area/*
mkdir "$tree/bin"
printf '#!/bin/sh\n' | tee "$tree"/bin/{dmesg,simhca-ctl} >/dev/null
chmod +x "$tree"/bin/*
export PATH=$tree/bin:$PATH MLX5_EP_VM_KERNEL=debug

# earlier: what a run before this one has left
earlier()
{
	mkdir -p "$left"
	printf '%s\n' 'KTAP version 1' 'ok 1 earlier # time=1.0' >"$left/results.ktap"
}

own()
{
	earlier
	code 0 "$tree/selftests/kselftest/vm" area
	grep -v '^#' "$tmp/out" | sed 's/ # .*//' | diff - <(
		printf '%s\n' 'KTAP version 1' 1..1 '  1..1' '  ok 1 a' 'ok 1 good')
}

# The other run has its lock, and half of its results.
busy()
{
	earlier
	exec 8>"$tree/build/check.lock"
	flock 8
	code 4 "$tree/selftests/kselftest/vm" area
	printf '%s\n' 'KTAP version 1' '1..0 # SKIP another run uses this checkout' |
		diff - "$tmp/out"
	exec 8>&-
}

early_end()
{
	earlier
	touch "$tree/no-kernel"
	code 1 "$tree/selftests/kselftest/vm" area
	echo '# no kernel' | diff - "$tmp/out"
	rm "$tree/no-kernel"
}

# A kernel that somebody names has to be there, that of the machine need not.
wrong_kernel()
{
	MLX5_EP_VM_KERNEL=/no/tree code 1 "$tree/selftests/kselftest/vm" area
	echo '# MLX5_EP_VM_KERNEL=/no/tree: kernel: /no/tree is not built' | diff - "$tmp/out"
	MLX5_EP_VM_KERNEL=../linux code 1 "$tree/selftests/kselftest/vm" area
	grep -x '# MLX5_EP_VM_KERNEL=../linux: an absolute path is wanted' "$tmp/out"
	mkdir -p "$tree/build/lab/kernels/9.9-abc"
	echo 9.9 >"$tree/build/lab/kernels/9.9-abc/release"
	MLX5_EP_VM_KERNEL=9.9-abc code 1 "$tree/selftests/kselftest/vm" area
	grep -x '# MLX5_EP_VM_KERNEL=9.9-abc: no headers of 9.9: install them' "$tmp/out"
	MLX5_EP_VM_KERNEL='' code 4 "$tree/selftests/kselftest/vm" area
	grep -x '1\.\.0 # SKIP kernel: /usr/lib/modules/.* is not built' "$tmp/out"
}

# Another run begins before the results are read.
replaced()
{
	touch "$tree/replaced"
	code 1 "$tree/selftests/kselftest/vm" area
	must_fail grep -v '^#' "$tmp/out"
	grep -qx '# 1 passed, 0 failed, 0 skipped' "$tmp/out"
	rm "$tree/replaced"
}

plan 5
check 'the results of the run are printed' own
check 'while another run uses the checkout the test is skipped' busy
check 'a run that ends before its tests has no results' early_end
check 'a kernel that is named and cannot be used is a failure' wrong_kernel
check 'the results of a run that began since are not printed' replaced
ktap_finished
