#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: core, smp: 2, timeout: 240
#
# What an administrator sets for jobs: policies of cgroups, which child cgroups
# inherit or replace, and the limit of UAR pages per user.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

cgroups=$tmp/cgroup
mkdir "$cgroups"
mount -t cgroup2 none "$cgroups"
pci=$(basename "$(readlink -f "/sys/class/infiniband/$dev/device")")
contexts=/sys/kernel/debug/mlx5_ep/$pci/contexts
[ -e "$contexts" ] || mount -t debugfs none /sys/kernel/debug

# in_cgroup CGROUP OPTION...: runs a program with QPs in CGROUP, prints the
# contexts
in_cgroup()
{
	local cgroup=$1

	shift
	# shellcheck disable=SC2016
	sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh \
		"$cgroups/$cgroup" uuar_traffic -q -r 1 -x "cat $contexts" "$@"
}

# column NAME: prints that column of the table on stdin
column()
{
	awk -v name="$1" 'NF > 10 {
		if ($1 == "pid") {
			for (i = 1; i <= NF; i++)
				if ($i == name)
					n = i
		} else if (n) {
			print $n
		}
	}'
}

# is FILE COLUMN VALUE: at least one context of the table has VALUE there, and
# none has another value
is()
{
	local got

	got=$(column "$2" <"$1" | sort -u)
	[ "$got" = "$3" ] || fail "$2 is $got, not $3"
}

a_cgroup_has_its_policy()
{
	mkdir "$cgroups/job1"
	echo '/job1 independent 0 6' >"$ep/uuar_cgroups"
	grep -qx '/job1 independent 0 6' "$ep/uuar_cgroups"
	in_cgroup job1 -n 4 >"$tmp/out"
	is "$tmp/out" policy independent
	is "$tmp/out" source cgroup
	is "$tmp/out" static 6
	in_cgroup . -n 4 >"$tmp/out"
	is "$tmp/out" policy stock
	is "$tmp/out" source device
}

descendants_inherit_unless_they_have_their_own()
{
	mkdir -p "$cgroups/job1/rank1/thread" "$cgroups/job1/rank2"
	echo '/job1/rank2 shared-uar 1 3' >"$ep/uuar_cgroups"
	in_cgroup job1/rank1/thread -n 2 >"$tmp/out"
	is "$tmp/out" policy independent
	in_cgroup job1/rank2 -n 2 >"$tmp/out"
	is "$tmp/out" policy shared-uar
	is "$tmp/out" strict 1
	is "$tmp/out" static 3
}

the_cgroup_beats_the_exemption()
{
	echo uuar_traffic >"$ep/uuar_exempt"
	in_cgroup job1 -n 2 >"$tmp/out"
	is "$tmp/out" source cgroup
	in_cgroup . -n 2 >"$tmp/out"
	is "$tmp/out" source exempt
	echo >"$ep/uuar_exempt"
}

an_entry_goes_with_its_cgroup()
{
	rmdir "$cgroups/job1/rank2"
	! grep -q rank2 "$ep/uuar_cgroups" || fail 'still listed'
	mkdir "$cgroups/job1/rank2"
	! grep -q rank2 "$ep/uuar_cgroups" || fail 'listed again'
	in_cgroup job1/rank2 -n 2 >"$tmp/out"
	is "$tmp/out" policy independent
	echo '/job1 none' >"$ep/uuar_cgroups"
	! grep -q '^/job1 ' "$ep/uuar_cgroups" || fail 'not removed'
	in_cgroup job1 -n 2 >"$tmp/out"
	is "$tmp/out" policy stock
}

# Within a cgroup namespace the policies of other jobs look like policies of
# cgroups that were deleted. A write there must keep them.
a_cgroup_namespace_leaves_the_others_alone()
{
	mkdir "$cgroups/inside" "$cgroups/inside/rank" "$cgroups/outside"
	echo '/outside independent 0 6' >"$ep/uuar_cgroups"
	# shellcheck disable=SC2016
	sh -c 'echo $$ >"$1/inside/cgroup.procs" &&
		exec unshare --cgroup sh -c "$2" sh "$3"' sh "$cgroups" '
		echo "/rank shared-uar 0 3" >"$1" && cat "$1"
	' "$ep/uuar_cgroups" >"$tmp/out"
	[ "$(cat "$tmp/out")" = '/rank shared-uar 0 3' ] ||
		fail "inside: $(cat "$tmp/out")"
	grep -qx '/outside independent 0 6' "$ep/uuar_cgroups"
	grep -qx '/inside/rank shared-uar 0 3' "$ep/uuar_cgroups"
	echo '/inside/rank none' >"$ep/uuar_cgroups"
	echo '/outside none' >"$ep/uuar_cgroups"
}

a_long_path_is_listed_whole()
{
	local name path

	name=$(printf '%0200d' 7)
	path=/$name/$name
	mkdir -p "$cgroups$path"
	echo "$path independent 0 4" >"$ep/uuar_cgroups"
	grep -qx "$path independent 0 4" "$ep/uuar_cgroups"
	echo "$path none" >"$ep/uuar_cgroups"
}

bad_lines_are_refused()
{
	local line

	cat "$ep/uuar_cgroups" >"$tmp/before"
	for line in '/nowhere independent 0 4' '/job1' '/job1 independent' \
		'/job1 independent 0' '/job1 bogus 0 4' '/job1 stock 2 4' \
		'/job1 stock 0 257' '/job1 stock 0 -1' '/job1 stock 0 4 x' \
		'/nowhere none' '/job1 none'; do
		! echo "$line" >"$ep/uuar_cgroups" 2>"$tmp/err" ||
			fail "accepted: $line"
	done
	cmp "$tmp/before" "$ep/uuar_cgroups"
}

# as_user UID OPTION...: runs a program with QPs as user UID
as_user()
{
	local uid=$1

	shift
	chmod a+rw /dev/infiniband/uverbs*
	setpriv --reuid "$uid" --clear-groups uuar_traffic -q -r 1 "$@"
}

a_users_limit_holds_for_stock_programs()
{
	echo 3 >"$ep/uar_user_limit"
	! as_user 1000 -n 16 >"$tmp/out" 2>&1 || fail 'it got all its pages'
	grep -q 'Disk quota exceeded' "$tmp/out"
	dmesg >"$tmp/log"
	grep -q 'user 1000 holds 3 UAR pages' "$tmp/log" || fail 'no log line'
	echo 0 >"$ep/uar_user_limit"
	as_user 1000 -n 16 >"$tmp/out" 2>&1
}

a_users_limit_shrinks_managed_contexts()
{
	echo 4 >"$ep/uar_user_limit"
	ep_policy independent 16
	as_user 1000 -n 16 -x "cat $ep/uar_in_use" >"$tmp/out"
	grep -qx 4 "$tmp/out" || fail "$(cat "$tmp/out")"
	echo 0 >"$ep/uar_user_limit"
	ep_policy stock 0
}

all_gone()
{
	[ "$(cat "$ep/uar_in_use")" = 0 ] && [ "$(cat "$ep/uar_observed")" = 0 ] &&
		[ "$(wc -l <"/sys/kernel/debug/mlx5_ep/$pci/users")" = 1 ]
}

nothing_is_left()
{
	wait_for 10 all_gone || fail "$(grep . "$ep"/uar_*)"
}

plan 10
check 'a cgroup has its policy' a_cgroup_has_its_policy
check 'descendants inherit unless they have their own' \
	descendants_inherit_unless_they_have_their_own
check 'the cgroup beats the exemption' the_cgroup_beats_the_exemption
check 'an entry goes with its cgroup' an_entry_goes_with_its_cgroup
check 'a cgroup namespace leaves the others alone' \
	a_cgroup_namespace_leaves_the_others_alone
check 'a long path is listed whole' a_long_path_is_listed_whole
check 'bad lines are refused' bad_lines_are_refused
check 'a limit of a user holds for stock programs' \
	a_users_limit_holds_for_stock_programs
check 'a limit of a user shrinks managed contexts' \
	a_users_limit_shrinks_managed_contexts
check 'nothing is left' nothing_is_left
find "$cgroups" -mindepth 1 -depth -type d -exec rmdir {} +
umount "$cgroups"
ktap_finished
