#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 120
#
# selftests/mutants/run: on the host, too, a failure counts only if the mutant makes it
# happen. The checkout here has a tool of one function. What is built of it is its source,
# and the test "sees" looks for a text in there.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

source=$PWD
tree=$tmp/tree
export state=$tmp/state

# file NAME: standard input becomes an executable file of the checkout
file()
{
	mkdir -p "$tree/$(dirname "$1")"
	cat >"$tree/$1"
	chmod +x "$tree/$1"
}

# The files of the lab and the runner that selftests/mutants/run uses.
write_lab()
{
	cat "$source/lab/lib.sh" - <<-'END' | file lab/lib.sh
		lab_need() { :; }
		lab_dir=$state
	END
	cp "$source"/lab/{packages,root-recipe} "$tree/lab"
	echo '7.2 7.2.0' >"$state/kernels"
	file lab/build-module <<<'#!/bin/sh'
	file lab/enter <<-'END'
		#!/bin/bash
		[ "$1" != --contain ] || shift
		case "$1 $*" in
		*/run_list*) [ ! -e "$state/mutated" ] || [ ! -e "$state/no-lab" ] || exit 1 ;;
		esac
		exec "$@"
	END
	file selftests/runner/registry.sh <"$source/selftests/runner/registry.sh"
	file selftests/sees_test.sh <<<'# runs on: host'
	file selftests/mutants/areas <<<$'*\tsees'
	file selftests/mutants/explained </dev/null
}

# The recipes have no tabs, which END would take away.
write_make()
{
	file Makefile <<-'END'
		.RECIPEPREFIX = >
		SOURCE = userlib/cli/tool.c
		hca selftests:
		lib: build/bin/mlx5ep
		build/obj/%.o: %.c
		> mkdir -p $(@D) && gcc -O1 -c -o $@ $<
		build/bin/mlx5ep: $(SOURCE) build/obj/userlib/cli/tool.o
		> mkdir -p $(@D) && cp $(SOURCE) $@
	END
	file userlib/userlib.mk <<-'END'
		.RECIPEPREFIX = >
		lib:
		> test ! -e $(state)/no-san
		> mkdir -p build/san/bin && cp userlib/cli/tool.c build/san/bin/mlx5ep
		> echo san >>build/san/bin/mlx5ep
	END
}

# The test. "$state" says when it fails; its file "mutated" is there from the first mutant on.
write_test()
{
	file selftests/runner/run_list <<-'END'
		#!/bin/bash
		has() { grep -q "$1" "$TOOL"; }
		echo "run ${TOOL##*build/} $(! has 'return a < 5;' && echo mutant)" >>"$state/runs"
		has 'return a < 5;' || touch "$state/mutated"
		echo "# start: sees"
		fails=false
		has 'return a < 5;' || [ ! -e "$state/sees" ] || fails=true
		has 'return a < 5;' || ! has san || [ ! -e "$state/sees-san" ] || fails=true
		[ ! -e "$state/mutated" ] || [ ! -e "$state/breaks" ] || fails=true
		! has san || [ ! -e "$state/never-san" ] || fails=true
		! has 'return a' || [ ! -e "$state/once" ] || [ ! -e "$state/mutated" ] ||
			{ rm "$state/once" && fails=true; }
		$fails || { echo 'ok 1 sees # time=1'; exit 0; }
		echo 'not ok 1 sees'
		exit 1
	END
}

# fresh WORD...: makes the checkout anew, and a state with these words
fresh()
{
	local word

	rm -rf "$tree" "$state"
	mkdir -p "$state" "$tree/selftests"
	cp -r "$source/selftests/mutants" "$tree/selftests/"
	write_lab
	write_make
	write_test
	file kernel/even.c <<<'int even(int a);'
	file userlib/cli/tool.c <<-'END'
		int less(int a)
		{
		  return a < 5;
		}
	END
	for word; do
		touch "$state/$word"
	done
}

# results VERDICT...: fails if the run has other results
results()
{
	printf '%s\n' "$@" >"$tmp/wanted"
	cut -f 1 "$tree/build/mutants/results" | diff "$tmp/wanted" -
}

mutants()
{
	env -C "$tree" MLX5_EP_MUTANTS= timeout 60 selftests/mutants/run --host --kernel 7.2 "$@"
}

killed()
{
	fresh sees
	code 0 mutants --number 1
	results killed
	grep -xF 'run bin/mlx5ep ' "$state/runs"
	fresh sees-san
	code 0 mutants --number 1
	results killed
	[ "$(tail -n 1 "$state/runs")" = 'run san/bin/mlx5ep ' ] || fail 'confirmed without ASan'
}

unconfirmed()
{
	local word

	for word in breaks once no-lab; do
		fresh $word
		code 1 mutants --number 1
		results unclear
		grep '^unclear .* less() comparison' "$tmp/out"
	done
}

sanitized()
{
	fresh never-san
	code 1 mutants --number 1
	grep 'a test fails without a mutant: sees' "$tmp/err"
	fresh no-san
	code 1 mutants --number 1
	grep 'the tool cannot be built with ASan without a mutant' "$tmp/err"
	[ ! -s "$tree/build/mutants/results" ]
}

# What has a reason is counted apart, by whether it is a bug.
reasons()
{
	local verdict file=selftests/mutants/explained

	for verdict in explained unseen; do
		fresh
		printf '%s\tuserlib/cli/tool.c\tless\tcomparison\t%s\twhy\n' $verdict \
			'return a [[< to <=]] 5;' >"$tree/$file"
		code 1 mutants --number 1
		results $verdict
		tail -n 2 "$tmp/out" >"$tmp/last"
		case $verdict in
		explained)
			grep -x 'mutants: killed=0 of 1 survived=0 explained=1' "$tmp/last"
			must_fail grep 'no test shows' "$tmp/last" ;;
		unseen)
			grep '^1 of those that survived are bugs that no test shows' "$tmp/last"
			grep -x 'mutants: killed=0 of 1 survived=1 explained=0' "$tmp/last" ;;
		esac
	done
	# It survives, so it is tested again when it has got a test.
	: >"$tree/$file"
	touch "$state/sees"
	code 0 mutants --number 1 --survivors
	results killed
}

# Fewer verdicts than asked for are enough only if there are no more mutants.
fewer()
{
	fresh sees
	code 0 mutants --number 9
	grep -xF 'the files have no more' "$tmp/out"
	fresh sees
	printf 'int more(int a)\n{\n  return a > 5;\n}\n' >>"$tree/userlib/cli/tool.c"
	code 1 mutants --number 2
	grep -F '2 were asked for, and 1 have a verdict' "$tmp/out"
	must_fail grep -F 'have no more' "$tmp/out"
	code 1 mutants --number 9
	code 0 mutants --number 1
}

# A run puts sources back that another one is building.
one_at_a_time()
{
	fresh sees
	mkdir -p "$tree/build/mutants"
	exec 8>"$tree/build/mutants/lock"
	flock 8
	code 2 mutants --number 1
	grep -xF 'mutants: another run uses this checkout' "$tmp/err"
	exec 8>&-
}

# refused VERDICT TEXT OPTION...: the run ends with this line before it builds or removes
# anything; the result of the run before is still there
refused()
{
	rm -rf "$tree/build/mutants/maker"
	code 2 mutants "${@:3}"
	echo "mutants: $2" | diff - "$tmp/err"
	[ ! -e "$tree/build/mutants/maker" ] || fail 'something was built'
	results "$1"
}

wrong_options()
{
	fresh sees
	code 0 mutants --number 1
	refused killed "$(echo 'no kernel 7.0, known are: 7.2 debug kcsan gcov arm64 arm64-16k' \
		'arm64-64k, and any by its path')" --kernel 7.0
	refused killed '--cpus takes a number from 1 on, not abc' --cpus abc
	refused killed '--cpus takes a number from 1 on, not 0' --cpus 0
	refused killed '--number takes a number from 1 on, not 08' --number 08
	refused killed '--area: no source is userlib/cli/tool' --area 'userlib/* userlib/cli/tool'
	mkdir "$tree/userlib/man"
	refused killed '--area: no source is userlib/man/*' --area 'kernel/* userlib/man'
	refused killed '--area names no source' --area ''
	mkdir -p "$tmp/none"
	refused killed "--patches: $tmp/none/*.patch does not change one source" \
		--patches "$tmp/none"
}

# Patches stand for mutants, and each of them counts.
patched()
{
	local number

	fresh sees
	mkdir -p "$tmp/patches"
	for number in 6 7; do
		sed "s/5/$number/" "$tree/userlib/cli/tool.c" |
			diff -u --label a/userlib/cli/tool.c --label b/userlib/cli/tool.c \
				"$tree/userlib/cli/tool.c" - >"$tmp/patches/$number-more.patch" ||
			true
	done
	code 0 mutants --patches "$tmp/patches"
	results killed killed
	cut -f 5 "$tree/build/mutants/results" | grep -x '[67]-more' | uniq -u | wc -l | grep -x 2
	grep -x 'mutants: killed=2 of 2 survived=0 explained=0' "$tmp/out"
	cmp "$tree/userlib/cli/tool.c" "$tree/build/mutants/maker/userlib/cli/tool.c"
	# The copies that it has made stay if they are named themselves.
	code 0 mutants --patches "$tree/build/mutants/patches"
	grep -x 'mutants: killed=2 of 2 survived=0 explained=0' "$tmp/out"
}

# A folder is what is in it.
folders()
{
	local area

	for area in userlib/cli userlib/ 'kernel/* userlib/cli/tool.?'; do
		fresh sees
		code 0 mutants --number 1 --area "$area"
		results killed
	done
}

# Results of other sources are not counted. Tests may be others: those that survived are
# tested again for that. Without results of the run before there is nothing to mix up.
other_sources()
{
	local file=userlib/cli/tool.c option

	fresh
	printf 'unseen\t%s\tless\tcomparison\treturn a [[< to <=]] 5;\twhy\n' $file \
		>"$tree/selftests/mutants/explained"
	code 1 mutants --number 1
	: >"$tree/selftests/mutants/explained"
	: >"$tree/userlib/cli/tool_test.c"
	touch "$state/sees"
	sed -i '1s/^/\n/' "$tree/$file"
	for option in --continue --survivors; do
		refused unseen "$file is not what the run before tested: run without $option" \
			--number 1 $option
	done
	sed -i 1d "$tree/$file"
	mv "$tree/kernel/even.c" "$tree/build/mutants/sources" "$tmp"
	refused unseen "$file is not what the run before tested: run without --continue" \
		--number 1 --continue --area userlib
	mv "$tmp/sources" "$tree/build/mutants/"
	refused unseen \
		'kernel/even.c is not what the run before tested: run without --continue' \
		--number 1 --continue --area userlib
	mv "$tmp/even.c" "$tree/kernel/"
	code 0 mutants --number 1 --survivors
	results killed
	sed -i '1s/^/\n/' "$tree/$file"
	code 0 mutants --number 1
	cut -f 4 "$tree/build/mutants/results" | grep -x 4:12
	rm "$tree/build/mutants/results"
	sed -i 1d "$tree/$file"
	code 0 mutants --number 1 --continue
}

# NAME:2 in areas is a test that cannot run on one CPU.
cpus()
{
	fresh sees
	file selftests/mutants/areas <<<$'*\tsees:2'
	code 1 mutants --number 1 --cpus 1
	grep '^not yet .* less() comparison' "$tmp/out"
	code 0 mutants --number 1 --cpus 2
	results killed
}

plan 11
check a_mutant_is_killed_if_the_test_passes_without_it killed
check what_fails_without_the_mutant_or_only_once_is_unclear unconfirmed
check the_tool_with_asan_passes_without_a_mutant sanitized
check reasons_of_bugs_are_counted_apart reasons
check fewer_verdicts_than_there_are_mutants_fail fewer
check results_of_other_sources_are_refused other_sources
check a_test_that_needs_more_cpus_is_left_out cpus
check patches_stand_for_mutants patched
check wrong_options_are_refused_before_anything_is_done wrong_options
check a_folder_is_what_is_in_it folders
check two_runs_do_not_share_a_checkout one_at_a_time
ktap_finished
