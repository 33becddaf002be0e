# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034 # what run and plan.sh use
#
# Reads and writes what earlier runs of this checkout measured for each test.
# The history is JSON with one line per test, and is read line by line:
#
# "7.2/uuar_query": {"runs": 12, "failures": 1, "seconds": [3.2, 2.9]}
#
# The seconds are those of the last ten runs. A test that was not started has not run.
# What ran on Ethernet ports stands apart, "7.2+eth/uuar_query", and so does what ran with
# --other-environment, "7.2+other/uuar_query". A fresh clone has no history; then the file
# `durations` in this folder is used.

history=build/check.history.json
durations=selftests/runner/durations
boot_expected=120	# tenths of a second

declare -A known_tenths=()

# history_kind: prints what tells such runs from others, beside the kernel
history_kind()
{
	[ "${link_default:-ib}" = ib ] || printf '+%s' "$link_default"
	! "${other_environment:-false}" || printf '+other'
}

# history_read: load the median of the durations of each test
history_read()
{
	local name tenths

	while read -r name tenths; do
		known_tenths[$name]=$tenths
	done < <(
		cat "$durations" 2>/dev/null |
			awk 'NF == 2 && !/^#/ { printf "%s %d\n", $1, $2 * 10 }' ||
			true
		cat "$history" 2>/dev/null |
			sed -nE 's,^ *"([^"]+)": .*\[([^]]*)\].*,\1 \2,p' |
			tr -d ',' | awk '
			{
				n = 0
				for (i = 2; i <= NF; i++) {
					for (j = ++n; j > 1 && v[j - 1] > $i + 0; j--)
						v[j] = v[j - 1]
					v[j] = $i + 0
				}
				if (n)
					printf "%s %d\n", $1, v[int((n + 1) / 2)] * 10
			}' || true
	)
}

# expected_of KERNEL NAME TIMEOUT: prints how long the test may take, in tenths
# of a second; without any measurement that is an eighth of its limit
expected_of()
{
	local tenths kind

	kind=$(history_kind)
	tenths=${known_tenths[$1$kind/$2]:-${known_tenths[$1/$2]:-}}
	if [ -z "$tenths" ]; then
		tenths=${known_tenths[$2]:-$((10 * $3 / 8))}
		tenths=$((tenths * $(slowness_of "$1")))
	fi
	printf '%s' "$tenths"
}

# history_write DIR: add the records of the run in DIR
history_write()
{
	local records

	for records in "$1"/*/records; do
		awk -v kernel="$(basename "$(dirname "$records")")$(history_kind)" '
			# No time and no failure: it was not started.
			$1 != "boot" && $1 != "guest" &&
			!($2 != "FAILED" && $6 == "0") {
				sub(/#.*/, "", $1)
				print kernel "/" $1, $2 == "FAILED", $6
			}' "$records"
	done | awk -v history="$history" '
		function keep(name, seconds,    n, list, i, text) {
			n = split(last[name] " " seconds, list, " ")
			for (i = n > 10 ? n - 9 : 1; i <= n; i++)
				text = text " " list[i]
			last[name] = text
		}
		BEGIN {
			while ((getline line < history) > 0) {
				if (split(line, part, "\"") < 8)
					continue
				name = part[2]
				gsub(/[^0-9. ]/, " ", part[5])
				runs[name] = part[5] + 0
				gsub(/[^0-9. ]/, " ", part[7])
				failures[name] = part[7] + 0
				gsub(/[^0-9. ]/, " ", part[9])
				last[name] = part[9]
			}
		}
		{
			runs[$1]++
			failures[$1] += $2
			# A test has no duration if its guest was lost.
			if ($3 != "0")
				keep($1, $3)
		}
		END {
			for (name in runs) {
				n = split(last[name], list, " ")
				text = ""
				for (i = 1; i <= n; i++)
					text = text (i > 1 ? ", " : "") list[i]
				printf "  \"%s\": {\"runs\": %d, \"failures\": %d, \"seconds\": [%s]}\n",
					name, runs[name], failures[name], text
			}
		}' | sort | sed '1s/^/{\n/; $!s/$/,/; $s/$/\n}/' >"$history.new"
	mv "$history.new" "$history"
}
