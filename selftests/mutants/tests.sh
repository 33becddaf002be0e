# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # the variables of run and of the other parts
#
# Which files are mutated, which tests should see a bug in each, and how long a test may take.
#
# host_items and guest_items are the tests of one file: NAME:SECONDS:PROGRAM, in the order in
# which they run, and :later behind a test that loads the module itself. guest is what the
# guest must have that runs all of the second kind.

# sources: prints the files that are mutated. On a new kernel little of the headers of
# kernel/compat/ is compiled, and what those in userlib/include/ have is in programs only.
sources()
{
	local file pattern

	while IFS= read -r file; do
		set -f
		for pattern in $area; do
			# shellcheck disable=SC2254 # a pattern
			case $file in
			$pattern) printf '%s\n' "$file" && break ;;
			esac
		done
		set +f
	done < <(find kernel userlib \( -name '*.c' -o -name '*.h' ! -path 'kernel/compat/*' \
		! -path 'userlib/include/*' \) ! -path '*/probe/*' ! -name '*_test.c' | sort)
}

# tests_of FILE: prints the patterns of the tests that should see a bug in it
tests_of()
{
	local files tests

	while IFS=$'\t' read -r files tests; do
		# shellcheck disable=SC2254 # a pattern
		case $1 in
		$files) printf '%s\n' "$tests" && return ;;
		esac
	done < <(grep -v '^#' selftests/mutants/areas)
	echo "mutants: no line of selftests/mutants/areas is for $1" >&2
	exit 1
}

# tests_of_all PATTERN: prints the tests of the sources that match it
tests_of_all()
{
	local file

	while IFS= read -r file; do
		# shellcheck disable=SC2254 # a pattern
		case $file in
		$1) tests_of "$file" ;;
		esac
	done < <(sources) | tr ' ' '\n' | awk '!seen[$0]++' | tr '\n' ' '
}

# limit_of NAME TIMEOUT: prints how many seconds a test may take. TIMEOUT is what its
# header says, which counts until it is noted what the test took.
limit_of()
{
	awk -v name="$1" -v timeout="$2" '$1 == name { seconds = 20 + 5 * $2 }
		END { print seconds ? int(seconds) : 2 * timeout }' "$durations"
}

# durations_in LOG: prints what each test of the log took that passed
durations_in()
{
	awk '/^ok / && /# time=/ { sub(/.*=/, "", $NF); print $3, $NF }' "$1"
}

# note_durations LOG: notes and prints what each test of the log took
note_durations()
{
	durations_in "$1" | tee -a "$durations"
}

# note_new_durations LOG: notes the same of tests that are not noted yet
note_new_durations()
{
	durations_in "$1" | awk 'FILENAME == ARGV[1] { known[$1] = 1; next }
		!known[$1]' "$durations" - >"$durations.new"
	cat "$durations.new" >>"$durations"
}

# unknown ITEM...: prints the tests that have not run without a mutant yet
unknown()
{
	local item

	for item in "$@"; do
		grep "^${item%%:*} " "$durations" >/dev/null || echo "$item"
	done
}

# more OPTION VALUE: the guest has at least so much of something
more()
{
	[ "$2" -le "${guest[$1]:-0}" ] || guest[$1]=$2
}

# add_test FILE: adds a test to host_items or guest_items
add_test()
{
	local name key value item where='' tier=full timeout=60 later=''

	name=$(test_name "$1")
	while IFS='=' read -r key value; do
		case $key in
		where) where=$value ;;
		tier) tier=$value ;;
		hca | smp | numa) more "--$key" "$value" ;;
		mem) more --mem "$(numfmt --from=iec "$value")" ;;
		timeout) timeout=$value ;;
		long) return 0 ;;
		args | link | module)
			[ "$key $value" = 'module later' ] || {
				echo "mutants: $name needs another guest" >&2
				exit 1
			}
			later=:later ;;
		esac
	done < <(test_header "$1")
	! ${core:-false} || [ "$tier" = core ] || return 0
	item=$name:$(limit_of "$name" "$timeout"):$(test_program "$1")$later
	case $where in
	host) host_items+=("$item") ;;
	*) guest_items+=("$item") ;;
	esac
}

# know_tests: sets name_of, the names of the tests by their files
know_tests()
{
	local file

	while IFS= read -r file; do
		name_of[$file]=$(test_name "$file")
	done < <(test_files)
}

# plan TESTS: sets host_items and guest_items, in the order of TESTS, and adds to guest
plan()
{
	local pattern file
	local -a patterns

	host_items=() guest_items=()
	read -r -a patterns <<<"$1"
	for pattern in "${patterns[@]}"; do
		[[ $pattern != *:* ]] || [ "${pattern#*:}" -le "$cpus" ] || continue
		pattern=${pattern%:*}
		for file in "${!name_of[@]}"; do
			# shellcheck disable=SC2254 # a pattern
			case ${name_of[$file]} in
			$pattern) add_test "$file" ;;
			esac
		done
	done
}

# likely FILE: prints guest_items, first those that have killed most mutants of FILE in
# the time that they take
likely()
{
	printf '%s\n' "${guest_items[@]}" | awk -F'\t' -v file="$1" '
		FILENAME == ARGV[1] { split($0, part, " "); took[part[1]] = part[2] }
		FILENAME == ARGV[2] && $1 == "killed" && $3 == file {
			split($2, part, " ")
			kills[part[1]]++
		}
		FILENAME == "-" {
			split($0, part, ":")
			printf "%f\t%d\t%s\n", kills[part[1]] / (1 + took[part[1]]),
				FNR, $0
		}' "$durations" "$results" - | sort -k1,1gr -k2,2n | cut -f3
}

# killer LOG: prints which test failed, and which of its subtests first
killer()
{
	awk '/^# start: / { started = $3 }
		/^  not ok / && subtest == "" { subtest = " " $4 }
		/^not ok / {
			print $4 subtest (/# time limit reached/ ? ", time limit" : "")
			told = 1
			exit
		}
		/^# start: / { subtest = "" }
		END { if (!told) print "guest lost", started }' "$1"
}
