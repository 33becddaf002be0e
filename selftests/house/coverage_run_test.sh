#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full
#
# selftests/coverage/run: the counts of a run stay until another run may begin. Programs in
# the place of the runner and the table say what was asked of them.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

source=$PWD
tree=$tmp/tree

# program NAME: standard input becomes a program of the checkout
program()
{
	mkdir -p "$tree/$(dirname "$1")"
	{
		echo '#!/bin/bash'
		cat
	} >"$tree/$1"
	chmod +x "$tree/$1"
}

# fresh: makes the checkout anew, with the counts of a run before. A run of the tests counts
# one guest, and waits while there is a file "wait".
fresh()
{
	rm -rf "$tree"
	program lab/enter <<<'exec "$@"'
	program lab/build-module <<<'exit 0'
	program selftests/coverage/table <<-'END'
		[ "$1" = --check ] || find build/coverage/data -mindepth 1 | sed 's,.*/,guest ,'
	END
	program selftests/run <<-'END'
		echo "$*" >>asked
		mkdir -p "build/coverage/data/new.$(wc -l <asked)"
		while [ -e wait ]; do
			sleep 0.1
		done
		exit "$(cat status 2>/dev/null || echo 0)"
	END
	cp "$source/selftests/coverage/run" "$tree/selftests/coverage/"
	mkdir -p "$tree/build/coverage/data/old"
}

# guests NAME...: fails unless the counts are of these guests
guests()
{
	find "$tree/build/coverage/data" -mindepth 1 -printf '%f\n' | sort |
		diff <(printf '%s\n' "$@") -
}

# shellcheck disable=SC2120 # code and must_fail pass arguments
coverage()
{
	timeout 20 "$tree/selftests/coverage/run" "$@"
}

counts()
{
	fresh
	code 0 coverage
	guests new.1
	grep -x -- "--kernels gcov --tests \* --without host/\*" "$tree/asked"
	code 0 coverage --continue
	guests new.1 new.2
	code 0 coverage --table
	grep -x 'guest new.1' "$tmp/out"
	echo 1 >"$tree/status"
	code 1 coverage --tests 'xrc_*'
	guests new.3
}

# A second run is refused as long as the first one takes; the table can be looked at.
one_at_a_time()
{
	local pid

	fresh
	touch "$tree/wait"
	coverage >/dev/null &
	pid=$!
	wait_for 5 test -e "$tree/build/coverage/data/new.1"
	code 2 coverage
	grep -xF 'coverage: another run uses this checkout' "$tmp/err"
	code 2 coverage --continue
	guests new.1
	code 0 coverage --table
	rm "$tree/wait"
	wait $pid
	code 0 coverage --continue
	guests new.1 new.2
}

# Nor does a run that can run no tests remove what there is.
other_tests()
{
	fresh
	exec 8>"$tree/build/check.lock"
	flock 8
	code 2 coverage
	grep -xF 'coverage: another run uses this checkout' "$tmp/err"
	guests old
	[ ! -e "$tree/asked" ]
	exec 8>&-
	code 0 coverage
	guests new.1
}

plan 3
check a_run_has_its_own_counts_or_adds_to_them counts
check two_runs_do_not_share_a_checkout one_at_a_time
check counts_stay_while_other_tests_run other_tests
ktap_finished
