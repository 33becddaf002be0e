# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Runs mr_race, which registers memory while another thread remaps it. No
# registration may be called valid when the HCA reads other pages than the
# process has. With the notification switched off the same program must find
# stale registrations; otherwise it would prove nothing. Needs lib.sh.

# race_field NAME LINE: the number behind NAME=
race_field()
{
	sed -n "s/.*\\b$1=\\([0-9]*\\).*/\\1/p" <<<"$2"
}

# race_run ROUNDS OPTION...: runs it, within a check; sets hits, registrations and
# stale
race_run()
{
	local rounds=$1 out
	shift

	out=$(build/bin/mr_race -n "$rounds" "$@" 2>&3) ||
		fail 'the run failed'
	echo "$out"
	[ "$(race_field rounds "$out")" -ge "$rounds" ] || fail "$out"
	hits=$(race_field hits "$out")
	registrations=$(race_field registrations "$out")
	stale=$(race_field stale "$out")
}

# race_on ROUNDS [-w] [-p]: at least every other round was registered, none was stale
race_on()
{
	local hits registrations stale

	race_run "$@"
	[ "$stale" = 0 ] || fail "$stale stale hits"
	[ "$registrations" -ge $(($1 / 2)) ] ||
		fail "only $registrations registrations"
	# With -w a hit is a watch that did not see its munmap().
	[ "${2:-}" = -w ] || [ "$hits" -ge $(($1 / 2)) ] ||
		fail "only $hits compared"
}

# race_off ROUNDS [-w]: without notification the program must find stale
# registrations
race_off()
{
	local hits registrations stale

	race_run "$@" -o
	[ "$stale" -ge $(($1 / 2)) ] || fail "only $stale stale hits"
}
