# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # the variables of run and of the other parts
#
# The results, a line each: verdict, what killed the mutant or why nobody sees it, the mutant.
#
# Verdicts: killed; survived; explained (nobody can see it); unseen (a bug that no test shows,
# with a reason); unclear (a test failed without the mutant too, or not each time with it);
# none (not compiled, or to the same code).

# checksums: prints one of each file that mutants are in, or that is compiled into them
checksums()
{
	find kernel userlib -name '*.[ch]' ! -name '*_test.c' -print0 | sort -z |
		xargs -0 sha256sum
}

# same_sources OPTION: ends the run if the results are of other sources. A result is known by
# the line and the text of its mutant: one whose line has moved would be tested and counted
# again.
same_sources()
{
	local file

	touch "$out/sources"
	file=$(checksums | sort -k2 - "$out/sources" | uniq -u | awk 'NR == 1 { print $2 }')
	[ -z "$file" ] || wrong "$file is not what the run before tested: run without $1"
}

# note VERDICT BY MUTANT: adds a result
note()
{
	printf '%s\t%s\t%s\n' "$@" >>"$results"
}

# explained MUTANT: sets $verdict, and $by to the reason, if the file of explanations has
# the mutant
explained()
{
	local said

	said=$("$enter" "$mutate" explained selftests/mutants/explained "$1") || return
	verdict=${said%%$'\t'*} by=${said#*$'\t'}
}

# tell VERDICT BY MUTANT: prints a result as a person reads it
tell()
{
	local file line function rule before after

	IFS=$'\t' read -r file line function rule before after <<<"$3"
	printf '%-9s %s:%s %s() %s: "%s" -> "%s"%s\n' "$1" "$file" "$line" \
		"$function" "$rule" "$before" "$after" "${2:+ ($2)}"
}

# count VERDICT: prints how many of the results are so
count()
{
	awk -F'\t' -v verdict="$1" '$1 == verdict { n++ } END { print n + 0 }' \
		"$results"
}

# judged: prints how many mutants have a verdict that counts
judged()
{
	grep -cvE '^(none|unclear)' "$results" || true
}

# table: prints the results by file
table()
{
	awk -F'\t' '$1 != "none" && $1 != "unclear" {
			n[$3]++
			killed[$3] += $1 == "killed"
			explained[$3] += $1 == "explained"
			unseen[$3] += $1 == "unseen"
		}
		END {
			for (file in n)
				printf "%-36s %3d of %3d killed, %d explained, %d unseen\n",
					file, killed[file], n[file],
					explained[file], unseen[file]
		}' "$results" | sort
}

# reached: succeeds if as many mutants have a verdict as were asked for, or each that there
# is; else prints why they are fewer
reached()
{
	local judged unclear left

	judged=$(judged) unclear=$(count unclear) left=$(wc -l <"$out/left")
	[ "$judged" -lt "$number" ] || return 0
	echo "mutants: $number were asked for, and $judged have a verdict"
	[ "$unclear" = 0 ] ||
		echo "$unclear have none: tests fail without them, or not each time with them"
	[ "$left" = 0 ] ||
		echo "$left are for tests in guests: --continue without --host"
	[ $((unclear + left)) = 0 ] || return
	echo 'the files have no more'
}

# summary: prints the results; succeeds if they are good
summary()
{
	local killed survived explained unseen all good=true

	killed=$(count killed) explained=$(count explained) unseen=$(count unseen)
	survived=$(($(count survived) + unseen))
	all=$((killed + survived + explained))
	echo
	table
	reached || good=false
	[ "$unseen" = 0 ] ||
		echo "$unseen of those that survived are bugs that no test shows, with a reason"
	echo "mutants: killed=$killed of $all survived=$survived explained=$explained"
	$good && [ "$all" -gt 0 ] &&
		[ $(((killed + explained) * 10)) -ge $((all * 9)) ] &&
		[ $((explained * 10)) -le "$all" ]
}
