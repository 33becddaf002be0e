# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # the variables of run and of the other parts
#
# The tests that need no guest: that they pass without a mutant, and what they say of one.

# host_tests LOG ITEM...: runs tests that need no guest with what is built. Tests of the
# tool run the one in $tool.
host_tests()
{
	[ $# -gt 1 ] || return 0
	(cd "$maker" && MLX5_EP_FIRST_FAILURE=1 TOOL=$PWD/$tool ASAN_OPTIONS=detect_leaks=1 \
		lab/enter --contain selftests/runner/run_list --first-failure \
		"${@:2}") >"$1" 2>&1 </dev/null
}

# broken LOG WHAT: ends the run: something fails without a mutant
broken()
{
	cat "$1" >&2
	echo "mutants: $2" >&2
	exit 1
}

# control_passes ITEM...: ends the run if a test fails without a mutant
control_passes()
{
	host_tests "$out/host.log" "$@" || broken "$out/host.log" \
		"a test fails without a mutant: $(killer "$out/host.log")"
}

# control: sets which guest all tests that can be needed share. Those of them that need
# no guest must pass without a mutant, and those of the tool with ASan too; what they take
# is noted. A run that goes on needs it of the tests only that are not noted. Of the tests
# in guests it is noted what they take when a mutant passes them first, and that they pass
# without it when one fails.
control()
{
	local -a of_tool

	plan "$(tests_of_all 'userlib/cli/*')"
	mapfile -t of_tool < <(unknown "${host_items[@]}")
	guest=()
	plan "$(tests_of_all '*')"
	mapfile -t host_items < <(unknown "${host_items[@]}")
	control_passes "${host_items[@]}"
	cp "$out/host.log" "$out/control.log"
	if [ ${#of_tool[@]} -gt 0 ]; then
		sanitized || broken "$out/build.log" \
			'the tool cannot be built with ASan without a mutant'
		tool=build/san/bin/mlx5ep control_passes "${of_tool[@]}"
	fi
	note_durations "$out/control.log" | sort -k2n |
		sed 's/^/without a mutant: /; s/$/ s/'
}

# without_mutant FILE: puts the source back and builds what the tests had that failed
without_mutant()
{
	put_back "$1"
	build "$1" || broken "$out/build.log" "$1 cannot be built without a mutant"
	[ "$tool" != build/san/bin/mlx5ep ] || sanitized ||
		broken "$out/build.log" 'the tool cannot be built with ASan without a mutant'
}

# failed_item: prints the item of host_items that has failed, if any
failed_item()
{
	local name

	name=$(awk '/^not ok / { print $4; exit }' "$out/host.log")
	printf '%s\n' "${host_items[@]}" | grep "^${name:-:}:" || true
}

# confirm FILE: sets $verdict after a test has failed: "killed" if it fails with the mutant
# once more and passes without it, else "unclear". A test whose time was up runs without the
# mutant only. If it needs half of that time, the machine was "slow", and the test has more
# time from now on.
confirm()
{
	local item limit began late=false

	verdict=unclear
	item=$(failed_item)
	[ -n "$item" ] || { by='the tests did not run' && return; }
	if grep -q '^not ok .*# time limit reached' "$out/host.log"; then
		late=true
		limit=${item#*:}
		limit=${limit%%:*}
		item=${item%%:*}:3600:${item##*:}
	elif host_tests "$out/host.log" "$item"; then
		return 0
	fi
	without_mutant "$1"
	began=$SECONDS
	host_tests "$out/host.log" "$item" || return 0
	verdict=killed
	$late && [ $((2 * (SECONDS - began))) -ge "$limit" ] || return 0
	note_durations "$out/host.log" >/dev/null
	verdict=slow
}

# host_passed FILE: runs host_items. A mutant of the tool that passes is built with ASan
# and UBSan and tested once more: that takes three times as long, and few mutants need it.
# Afterwards $tool is the one that was tested last.
host_passed()
{
	tool=build/bin/mlx5ep
	host_tests "$out/host.log" "${host_items[@]}" || return
	[[ $1 = userlib/cli/* ]] || return 0
	tool=build/san/bin/mlx5ep
	: >"$out/host.log"
	sanitized && host_tests "$out/host.log" "${host_items[@]}"
}

# host_verdict FILE MUTANT: sets $verdict to "passed" if the mutant passes the tests that
# need no guest; else to "killed" or "unclear", and $by to the test that failed
host_verdict()
{
	local tool

	verdict=passed
	until host_passed "$1"; do
		by=$(killer "$out/host.log")
		confirm "$1"
		[ $verdict = slow ] || return 0
		changed "$2"
		plan "$(tests_of "$1")"
		build "$1"
		verdict=passed
	done
}
