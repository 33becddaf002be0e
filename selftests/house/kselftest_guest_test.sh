#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 400
#
# The form of kselftest, in both ways that a kernel is tested: an installed copy runs
# inside a guest that has the device, and it starts a guest with the kernel that is
# under test. In each of them one test passes and one fails.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# A guest sees what is below the checkout.
into=$PWD/build/kselftest.$$
trap 'rm -rf "$into" "$tmp"' EXIT
tree=$into/mlx5_ep/tree

installed()
{
	lab/build-module 7.2
	selftests/kselftest/install "$into" mlx5_ep/uuar xrc endpoints vm
	[ ! -e "$tree/build/selftests/obj" ]
	cmp "$tree/selftests/lib/lib.sh" selftests/lib/lib.sh
	# A test that fails, for both guests.
	printf '%s\n' '#!/bin/sh' 'echo KTAP version 1' 'echo 1..2' \
		'echo ok 1 first' 'echo not ok 2 second' 'exit 1' \
		>"$tree/build/selftests/xrc_values_test"
	cp "$tree/build/selftests/xrc_values_test" \
		"$tree/build/selftests/uuar_set_stock_test"
}

# line PATTERN: the last output has such a line
line()
{
	grep -qxE "$1" "$tmp/out" || fail "no line $1"
}

# uuar_kernel_users needs two devices, and endpoints_stock no module.
inside()
{
	code 1 lab/vm --kernel 7.2 --timeout 300 -- \
		"$into/run_kselftest.sh" -t mlx5_ep/uuar:uuar_sysfs \
		-t mlx5_ep/xrc:xrc_values -t mlx5_ep/uuar:uuar_kernel_users \
		-t mlx5_ep/endpoints:endpoints_stock
	line 1..4
	line '# ok [0-9]+ .*'
	line 'ok 1 selftests: mlx5_ep/uuar: uuar_sysfs'
	line '# not ok 2 second'
	line 'not ok 2 selftests: mlx5_ep/xrc: xrc_values # exit=1'
	line "ok 3 selftests: .* # SKIP the test needs 2 HCAs, this machine has 1"
	line "ok 4 selftests: .* # SKIP the test needs a machine without mlx5_ep"
	line '# Totals: pass:1 fail:1 xfail:0 xpass:0 skip:2 error:0'
}

# A machine whose kernel is under test: the guest boots that kernel.
outside()
{
	export MLX5_EP_VM_KERNEL=7.2
	export MLX5_EP_VM_TESTS='uuar_sysfs uuar_set_stock'
	code 1 "$into/run_kselftest.sh" -t mlx5_ep/vm:uuar
	line '# 1\.\.2'
	line '# ok [12] uuar_sysfs # time=.*'
	line '# not ok [12] uuar_set_stock # .*'
	line '# #? *guest ready: 7\.2\..*'
	line 'not ok 1 selftests: mlx5_ep/vm: uuar # exit=1'
	# The run was that of the copy.
	[ -e "$tree/build/check/7.2/results.ktap" ]
}

plan 3
check 'the tests are installed' installed
check 'a guest with the device runs them' inside
check 'a guest is started for the kernel under test' outside
ktap_finished
