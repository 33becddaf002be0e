#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full
#
# selftests/mutants/guest: what kills a mutant is looked at without the mutant, before it
# counts. Programs in the place of insmod and the like say what a mutant does: the module of
# each mutant here is a word.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

source=$PWD
export state=$tmp/state KLOG_DEVICE=/dev/null

# program NAME: standard input becomes a program that is found first
program()
{
	{
		echo '#!/bin/bash'
		cat
	} >"$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
}

mkdir -p "$tmp/bin"
program find <<'END'
[ "$1" != /sys/class/infiniband ] || exit 0
exec /usr/bin/find "$@"
END
program mount <<'END'
cp "$2" "$state/mutant"
END
program umount <<'END'
rm "$state/mutant"
END
program insmod <<'END'
echo insmod >>"$state/done"
[ ! -e "$state/slow" ] && [ "$(cat "$state/mutant" 2>/dev/null)" != unloadable ]
END
program modprobe <<'END'
echo "modprobe $*" >>"$state/done"
END
for name in dmesg rmmod; do
	program $name <<<'exit 0'
done
program simhca-ctl <<<"echo '{\"hcas\": [{\"alive\": []}]}'"

# fresh WORD...: makes a queue with a mutant for each word; there will be no more
fresh()
{
	local word n=0

	rm -rf "$tmp/tree" "$state"
	mkdir -p "$state" "$tmp/tree/queue" "$tmp/tree/selftests/runner"
	cp -r "$source/selftests/mutants" "$source/selftests/lib" "$tmp/tree/selftests/"
	for word; do
		n=$((n + 1))
		write_mutant "$tmp/tree/queue/000$n" "$word"
	done
	touch "$tmp/tree/queue/end"
	cat >"$tmp/tree/selftests/runner/run_list" <<-'END'
		#!/bin/bash
		echo "run ${*:3}" >>"$state/done"
		echo "# start: ${*: -1}"
		for item in "${@:3}"; do
			case $item:$(cat "$state/mutant" 2>/dev/null) in
			mends:*:leaves) touch "$state/left"
				echo 'not ok 1 mends'
				exit 1 ;;
			mends:*) rm -f "$state/left" ;;
			sees:*) [ ! -e "$state/left" ] || { echo 'not ok 1 sees'; exit 1; } ;;
			esac
		done
		case $(cat "$state/mutant" 2>/dev/null) in
		reported) echo '# kernel report' ;;
		seen) ;;
		late) [ "${*:3}" = loads:60:program ] || { echo 'ok 1 sees'; exit 0; }
			echo 'not ok 1 loads'
			exit 1 ;;
		once) [ ! -e "$state/once" ] || { echo 'ok 1 sees'; exit 0; }
			touch "$state/once" ;;
		*) [ -e "$state/slow" ] || { echo 'ok 1 sees'; exit 0; } ;;
		esac
		echo 'not ok 1 sees'
		exit 1
	END
	chmod +x "$tmp/tree/selftests/runner/run_list"
}

# write_mutant FOLDER WORD: a mutant whose module is the word
write_mutant()
{
	mkdir -p "$1/files/build"
	echo "$2" >"$1/files/build/mlx5_ep.ko"
	echo sees:60:program >"$1/items"
}

# guest: one guest of the queue
guest()
{
	rm -f "$state/mutant" "$state/left"
	(cd "$tmp/tree" && PATH=$tmp/bin:$PATH timeout 20 selftests/mutants/guest queue)
}

# verdict N WORD: fails if the verdict of mutant N is another
verdict()
{
	local is

	is=$(cat "$tmp/tree/queue/000$1/verdict" 2>/dev/null || echo none)
	[ "$is" = "$2" ] || fail "mutant $1: $is, not $2"
}

confirmed()
{
	fresh unloadable harmless
	guest
	verdict 1 none
	guest
	verdict 1 killed
	verdict 2 survived
	fresh reported
	guest
	verdict 1 none
	guest
	verdict 1 killed
}

# A mutant can end the guest as it is loaded, before a test begins.
lost_as_it_loads()
{
	fresh harmless
	touch "$tmp/tree/queue/0001/mutant"
	echo '# mutant: queue/0001' >"$tmp/guest.log"
	out=$tmp tree=$tmp/tree bash -c '. "$1" && lost' lost \
		"$source/selftests/mutants/queue.sh"
	guest
	verdict 1 killed
}

unconfirmed()
{
	local word

	for word in unloadable reported seen; do
		fresh $word
		guest
		[ $word != seen ] || verdict 1 killed
		fresh $word
		touch "$state/slow"
		guest
		verdict 1 none
		guest
		verdict 1 unclear
	done
}

# What a mutant leaves makes the next test fail, until the first one runs again.
left_behind()
{
	fresh leaves harmless
	echo mends:60:program >"$tmp/tree/queue/0001/items"
	guest
	verdict 1 none
	verdict 2 none
	guest
	verdict 1 killed
	guest
	verdict 2 survived
}

# What fails with the mutant only now and then is no verdict either.
unsteady()
{
	fresh once harmless seen
	guest
	verdict 1 unclear
	verdict 2 survived
	verdict 3 killed
}

# A guest that waits for the next mutant has given the verdicts that there are.
waits()
{
	local pid tries

	fresh seen
	rm "$tmp/tree/queue/end"
	touch "$tmp/tree/queue/enough"
	guest &
	pid=$!
	for ((tries = 0; tries < 100; tries++)); do
		[ ! -e "$tmp/tree/queue/0001/verdict" ] || break
		sleep 0.1
	done
	verdict 1 killed
	write_mutant "$tmp/tree/queue/0002" harmless
	touch "$tmp/tree/queue/end"
	wait $pid
	verdict 2 survived
}

# did LINE...: fails if the guest has loaded or run something else
did()
{
	printf '%s\n' "$@" | diff - "$state/done"
}

# A test that loads the module itself runs behind the others, when the driver alone is loaded.
loads()
{
	local items='loads:60:program:later sees:60:program'
	local -a with=(insmod 'modprobe mlx5_ib' 'run sees:60:program')
	local -a later=('modprobe mlx5_ib' 'run loads:60:program')

	fresh harmless
	echo "$items" >"$tmp/tree/queue/0001/items"
	guest
	verdict 1 survived
	did "${with[@]}" "${later[@]}"
	fresh late
	echo "$items" >"$tmp/tree/queue/0001/items"
	guest
	verdict 1 killed
	# Once more with the mutant, and then without it.
	did "${with[@]}" "${later[@]}" "${later[@]}" "${later[@]}"
}

# planned HEADER: how selftests/mutants/run writes such a test for the guest
planned()
(
	# shellcheck disable=SC2030,SC2034 # tests.sh uses them
	host_items=() guest_items=() durations=/dev/null

	# shellcheck source=selftests/runner/registry.sh
	. selftests/runner/registry.sh
	# shellcheck source=selftests/mutants/tests.sh
	. selftests/mutants/tests.sh
	declare -A guest=()
	echo "# runs on: guest, timeout: 9, $1" >"$tmp/loads_test.sh"
	add_test "$tmp/loads_test.sh"
	echo "${guest_items[*]}"
)

kinds()
{
	prints "loads:18:$tmp/loads_test.sh" planned 'hca: 2'
	prints "loads:18:$tmp/loads_test.sh:later" planned 'module: later'
	code 1 planned 'module: dkms'
	grep -x 'mutants: loads needs another guest' "$tmp/err"
}

baseline()
{
	fresh
	echo 'loads:60:program:later sees:60:program' >"$tmp/tree/queue/baseline"
	guest
	did insmod 'modprobe mlx5_ib' 'run sees:60:program' \
		'modprobe mlx5_ib' 'run loads:60:program'
	touch "$state/slow"
	must_fail guest
}

# silent SECONDS LINE...: the guest wrote these lines last, so many seconds ago
silent()
{
	printf '%s\n' "${@:2}" >"$tmp/guest.log"
	touch -d "-$1 seconds" "$tmp/guest.log"
}

# A guest is silent for as long as the test that runs may take, and for two minutes more.
stalls()
{
	local out=$tmp queue=$tmp/silent

	# shellcheck source=selftests/mutants/queue.sh
	. selftests/mutants/queue.sh
	mkdir -p "$queue/0001" "$queue/0002"
	echo 'quick:10:a slow:1000:b' >"$queue/0001/items"
	echo 'slow:900:b' >"$queue/0002/items"
	touch "$queue/running"
	silent 110 '# mutant: 1' '# start: slow' 'ok 1 slow' '# start: quick'
	must_fail stalled
	silent 150 '# mutant: 1' '# start: slow' 'ok 1 slow' '# start: quick'
	stalled
	silent 150 '# mutant: 1' '# start: quick' 'ok 1 quick' '# start: slow'
	must_fail stalled
	silent 150 '# mutant: 1' '# start: quick' '# mutant: 2'
	must_fail stalled
	silent 1150 '# mutant: 1' '# start: quick' '# mutant: 2'
	stalled
	rm "$queue/running"
	must_fail stalled
}

plan 10
check a_guest_that_ends_is_followed_by_one_that_confirms confirmed
check a_mutant_that_ends_the_guest_as_it_loads_is_killed lost_as_it_loads
check what_happens_without_the_mutant_too_is_unclear unconfirmed
check what_a_mutant_leaves_kills_no_other left_behind
check what_fails_once_with_the_mutant_is_unclear unsteady
check a_guest_that_waits_has_given_its_verdicts waits
check a_test_that_loads_the_module_finds_the_driver_alone loads
check what_loads_the_module_otherwise_is_refused kinds
check what_fails_before_the_first_mutant_ends_the_guest baseline
check a_guest_in_which_a_test_never_ends_is_ended stalls
ktap_finished
