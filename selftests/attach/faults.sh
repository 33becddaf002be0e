# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Allocations that fail on request, of some functions only.

debug=/sys/kernel/debug

# function_range NAME [MODULE]: the address of a function, and that of the next one. MODULE is in
# brackets; without it the function is the kernel's own. Nothing where there is none.
function_range()
{
	awk -v of="${2-}" '$4 == of { print $1, $3 }' /proc/kallsyms | sort |
		awk -v name="$1" 'from && !to && $1 != from { to = $1 }
			$2 == name && !from { from = $1 }
			END { if (to) print from, to }'
}

# faults_between FROM TO: what fails from now on is called by code between these addresses.
# kmemleak allocates a record with each allocation. It has a pool for when there is no
# memory, so its own allocations do not fail, and each failure is one of the code's.
faults_between()
{
	local fault kmemleak

	kmemleak=$(function_range kmemleak_alloc)
	for fault in failslab fail_page_alloc fail_usercopy; do
		echo 0 >$debug/$fault/verbose
		echo 32 >$debug/$fault/stacktrace-depth
		echo "0x$1" >$debug/$fault/require-start
		echo "0x$2" >$debug/$fault/require-end
		[ -n "$kmemleak" ] || continue
		echo "0x${kmemleak% *}" >$debug/$fault/reject-start
		echo "0x${kmemleak#* }" >$debug/$fault/reject-end
	done
	echo N >$debug/failslab/ignore-gfp-wait
	echo N >$debug/fail_page_alloc/ignore-gfp-wait
	echo 0 >$debug/fail_page_alloc/min-order
}
