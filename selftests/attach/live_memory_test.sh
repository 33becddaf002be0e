#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: live-memory, module: later, kernels: debug, timeout: 1800
#
# The module is loaded after the device has registered, and one allocation on the way fails,
# each in turn. The device is then attached for policies and limits, or it is the driver's
# own and says so, and programs run on it. Unloaded and loaded again, the module attaches.
# attach_memory does the same to devices that register.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh
# shellcheck source=selftests/attach/faults.sh
. selftests/attach/faults.sh
# shellcheck source=selftests/attach/live.sh
. selftests/attach/live.sh

module=build/modules/$(uname -r)/mlx5_ep.ko

# filter: what fails from now on is called while an interface registers with a class
filter()
{
	local range

	range=$(function_range class_interface_register)
	[ -n "$range" ] || fail 'the kernel has no class_interface_register()'
	# shellcheck disable=SC2086 # two addresses
	faults_between $range
}

# load_without NTH: loads the module without the memory of the NTH allocation; fails if
# fewer were asked for
load_without()
{
	/usr/bin/python3 - "$1" "$module" <<-'PROGRAM'
		import ctypes, os, sys
		module = os.open(sys.argv[2], os.O_RDONLY)
		nth = os.open('/proc/thread-self/fail-nth', os.O_RDWR)
		finit_module = 313
		os.write(nth, sys.argv[1].encode())
		loaded = ctypes.CDLL(None).syscall(finit_module, module, b'', 0)
		left = int(os.pread(nth, 9, 0).strip(b'\0\n'))
		os.write(nth, b'0')
		sys.exit(2 if loaded else 1 if left else 0)
	PROGRAM
}

# The reason cannot be read where the record of the device, or its folder, is missing.
half_or_stock()
{
	! is_half || return 0
	[ ! -e "$ep/attached" ] || grep -qx 'not attached: no memory' "$ep/attached" ||
		fail "$(cat "$ep/attached")"
	refused=$((refused + 1))
	uuar_traffic -q -n 2 -r 1
}

each_fails()
{
	local nth refused=0 code

	for ((nth = 1; ; nth++)); do
		code=0
		load_without $nth || code=$?
		[ $code != 2 ] || fail "allocation $nth: not loaded"
		half_or_stock
		rmmod mlx5_ep
		[ $code = 0 ] || break
		echo "# progress: $nth allocations, $refused refusals" >&3
	done
	[ $refused -ge 40 ]
}

attaches()
{
	ep_insmod
	is_half || fail "$(cat "$ep/attached")"
	ep_policy independent 4
	program
	ep_policy stock
	unloads
}

[ -e $debug/failslab/require-start ] || skip_all 'the kernel makes no allocation fail'
plan 4
program
base=$(hca_objects 'uar, pd, td, cq, qp, srq')
filter
check 'loaded with each allocation failing in turn' each_fails
check 'the module attaches afterwards' attaches
check 'nothing is left' becomes 20 "$base" hca_objects 'uar, pd, td, cq, qp, srq'
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
