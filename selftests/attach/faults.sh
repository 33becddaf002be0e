# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Allocations that fail on request, of some functions only.

debug=/sys/kernel/debug

# faults_between FROM TO: what fails from now on is called by code between these addresses
faults_between()
{
	local fault

	for fault in failslab fail_page_alloc fail_usercopy; do
		echo 0 >$debug/$fault/verbose
		echo 32 >$debug/$fault/stacktrace-depth
		echo "0x$1" >$debug/$fault/require-start
		echo "0x$2" >$debug/$fault/require-end
	done
	echo N >$debug/failslab/ignore-gfp-wait
	echo N >$debug/fail_page_alloc/ignore-gfp-wait
	echo 0 >$debug/fail_page_alloc/min-order
}
