# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What the scripts that look at results have in common. The one that sources this file
# sets out to the folder with NAME.results, and runs in the checkout. bad is the number of
# failures and differences that no page lists. The script may add a page.
#
# shellcheck disable=SC2154 # who sources this sets out

bad=0
known_pages=(simhca/peers/README.md)

# tell TEXT NAME: prints a failure or a difference, which counts if no page lists it
tell()
{
	if simhca/peers/known "$2" "${known_pages[@]}"; then
		echo "$1 (known)"
	else
		echo "$1"
		bad=$((bad + 1))
	fi
}

# count STATUS NAME: prints how many results of NAME have that status
count()
{
	grep -c "^$1 " "$out/$2.results" || true
}

# names PATTERN NAME: prints the tests whose status matches
names()
{
	grep -E "^($1) " "$out/$2.results" | cut -d' ' -f2 | sort -u
}

# report NAME: prints the counts of its results, and what failed
report()
{
	local test why

	printf 'peers: %-12s %4d run, %4d passed, %4d skipped, %4d failed\n' \
		"$1" "$(wc -l <"$out/$1.results")" "$(count ok "$1")" \
		"$(count skip "$1")" \
		"$(grep -cE '^(fail|crash) ' "$out/$1.results" || true)"
	while read -r _ test why; do
		tell "peers: $1: fails: $test${why:+ $why}" "$test"
	done < <(grep -E '^(fail|crash) ' "$out/$1.results" | sort -u)
}
