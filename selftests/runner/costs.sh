# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What tests cost, for the scripts that choose some of them.
# shellcheck source=selftests/lib/slowness.sh
. selftests/lib/slowness.sh
# shellcheck source=selftests/runner/history.sh
. selftests/runner/history.sh

# costs TIER: prints NAME TENTHS for each test of the tier that does not take long: the
# tenths of a second that it is expected to take, times the CPUs that it takes
costs()
{
	local name words word
	local -A has

	history_read
	while read -r name words; do
		has=()
		for word in $words; do
			has[${word%%=*}]=${word#*=}
		done
		[ "${has[tier]:-full}" = "$1" ] && [ "${has[long]:-no}" = no ] || continue
		printf '%s %s\n' "$name" $(($(expected_of newest "$name" \
			"${has[timeout]:-60}") * ${has[smp]:-1}))
	done < <(selftests/run --list)
}

# core_tenths SECONDS: prints the tenths of a second that all CPUs have in so long
core_tenths()
{
	echo $((10 * $1 * $(nproc)))
}
