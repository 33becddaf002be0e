#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 40
#
# mlx5-ci: its options, when it says that there is no coverage and how to get it, and
# what it makes of results and counts that a run has left. The counts are those of a
# small program that is compiled for gcov here. No guest is started.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

ci=simhca/mlx5-ci
# A kernel as lab/kernel leaves it, with gcov and with its sources.
this=ci-test-$$
kernel=build/lab/kernels/$this
out=build/mlx5-ci/$this
trap 'rm -rf "$tmp" "$kernel" "$out" "$out.lock"' EXIT
tree=$tmp/linux
mkdir -p "$kernel" "$tree/drivers/infiniband/hw/mlx5" "$tree/include/config" \
	"$tree/kernel/gcov"
touch "$tree/drivers/infiniband/hw/mlx5/main.c" "$tree/kernel/gcov/Makefile" \
	"$kernel/stamp" "$kernel/shows"
echo 7.9.0-ci >"$kernel/release"
echo "$tree" | tee "$kernel/path" >"$kernel/kbuild"
echo CONFIG_GCOV_KERNEL=y >"$tree/include/config/auto.conf"

refused()
{
	local name

	code 2 $ci --unknown
	grep usage: "$tmp/err"
	code 1 $ci --kernel
	grep -- '--kernel wants a value' "$tmp/err"
	code 1 $ci --parts 'probe perftest'
	grep 'no part perftest: probe, suites' "$tmp/err"
	code 1 $ci --links 'ib roce'
	grep 'no link roce: ib, eth' "$tmp/err"
	for name in arm64 arm64-16k arm64-64k; do
		code 1 $ci --kernel $name --plan
		grep "$name is of another architecture" "$tmp/err"
	done
	code 1 $ci --source "$tmp"
	grep "$tmp has no drivers/infiniband/hw/mlx5" "$tmp/err"
	mkdir -p "$tmp/half/drivers/infiniband/hw/mlx5"
	touch "$tmp/half/drivers/infiniband/hw/mlx5/main.c"
	code 1 $ci --source "$tmp/half"
	grep "$tmp/half has no kernel/gcov" "$tmp/err"
	code 1 $ci --parts ''
	grep 'nothing to run: --parts and --tests are empty' "$tmp/err"
	code 1 $ci --links ' '
	grep 'no link to run on: --links is empty' "$tmp/err"
	code 1 $ci --plan --out simhca/peers
	grep -- "--out wants a folder below $PWD/build" "$tmp/err"
	code 0 $ci --help
	grep 'usage: simhca/mlx5-ci' "$tmp/out"
}

# What the parts run is the kernel's own drivers alone.
built_in()
{
	echo builtin >"$kernel/own"
	code 1 $ci --kernel "$this" --plan
	grep "$this has .* built in, and cannot run without it" "$tmp/err"
	code 0 $ci --kernel "$this" --plan --parts '' --tests uuar_query
	echo own >"$kernel/own"
	code 0 $ci --kernel "$this" --plan
	rm "$kernel/own"
}

plans()
{
	code 0 $ci --kernel 7.2 --plan
	grep -x 'mlx5-ci: coverage of linux-source-7.2, by a module' "$tmp/out"
	code 0 $ci --kernel "$this" --plan
	grep -x "mlx5-ci: coverage of $tree, by the gcov of the kernel" "$tmp/out"
	echo '# CONFIG_GCOV_KERNEL is not set' >"$tree/include/config/auto.conf"
	code 0 $ci --kernel "$this" --plan
	grep -x "mlx5-ci: coverage of $tree, by a module" "$tmp/out"
}

without_sources()
{
	echo "$tmp" >"$kernel/path"
	mv "$tree/drivers" "$tmp/elsewhere"
	code 0 $ci --kernel "$this" --plan
	grep "no coverage: $this has no sources beside it: .*--source" "$tmp/out"
	mkdir "$tmp/other"
	mv "$tmp/elsewhere" "$tmp/other/drivers"
	mv "$tree/kernel" "$tmp/other/"
	code 0 $ci --kernel "$this" --plan --source "$tmp/other"
	grep -x "mlx5-ci: coverage of $tmp/other, by a module" "$tmp/out"
	# From another folder.
	cd "$tmp"
	code 0 "$OLDPWD/$ci" --kernel "$this" --plan --source other
	grep -x "mlx5-ci: coverage of $tmp/other, by a module" "$tmp/out"
	cd "$OLDPWD"
	mv "$tmp/other"/{drivers,kernel} "$tree/"
	: >"$kernel/kbuild"
	code 0 $ci --kernel "$this" --plan
	grep "no coverage: $this has no headers beside it: .*--headers" "$tmp/out"
	echo "$tree" | tee "$kernel/path" >"$kernel/kbuild"
}

# A driver of three functions, of which two guests run one each.
counts()
{
	local objects=$PWD/$out/mlx5_ib part

	mkdir -p "$objects"
	cat >"$objects/qp.c" <<-'END'
	int create(int n)
	{
		if (n > 9)
			return -1;
		return n;
	}

	int destroy(int n)
	{
		return n + 1;
	}

	int never(int n)
	{
		return n - 1;
	}
	END
	cat >"$objects/main.c" <<-'END'
	int create(int n);
	int destroy(int n);

	int main(int argc, char **argv)
	{
		return argc > 1 ? destroy(-1) : create(0);
	}
	END
	(cd "$objects" && gcc --coverage -c qp.c main.c && gcc --coverage -o a ./*.o)
	for part in probe.ib suites.eth; do
		"$objects/a" ${part##*.ib}
		mkdir -p "$out/data/$part.run.1.0"
		mv "$objects"/*.gcda "$out/data/$part.run.1.0/"
	done
	rm "$objects"/{a,*.o}
}

# known: prints a test that the page of the peers' suites says fails
known()
{
	sed -n 's/^| `\(tests\.[^`]*\)` | fails |.*/\1/p' simhca/peers/README.md |
		head -n 1
}

table()
{
	local known

	known=$(known)
	[ -n "$known" ]
	counts
	mkdir -p "$out"/{probe.ib,suites.eth}
	printf '%s\n' 'ok device' 'skip congestion none' >"$out/probe.ib/probe.results"
	printf '%s\n' 'ok tests.a.B.c' 'skip tests.a.B.d why' \
		"fail $known" \
		>"$out/suites.eth/driver.results"
	code 0 $ci --kernel "$this" --table
	cat >"$tmp/want" <<-'END'
	file                  lines  covered      %  functions that did not run
	main.c                    2        2  100.0
	qp.c                      8        5   62.5  never
	all                      10        7   70.0
	mlx5-ci: probe: 5 lines (50.0 %)
	mlx5-ci: suites: 4 lines (40.0 %)
	mlx5-ci: 2 passed, 0 failed, 3 skipped; coverage 7 of 10 lines of mlx5_ib (70.0 %)
	END
	sed 1d "$tmp/out" | diff "$tmp/want" -
	grep -xF "mlx5-ci: suites.eth/$known: fail (known)" <(head -n 1 "$tmp/out")
	grep -q '"suites": 4' "$out/coverage.json"
}

# Counts of another build of the driver cannot be added to. make of this kernel compiles
# the driver, whose sources have changed.
other_build()
{
	cp "$out"/mlx5_ib/{main,qp}.c "$tree/drivers/infiniband/hw/mlx5/"
	echo 'int more(int n) { return n > 3 ? n : create(n); }' \
		>>"$tree/drivers/infiniband/hw/mlx5/qp.c"
	touch "$tree/drivers/infiniband/hw/mlx5/Makefile" "$tree/kernel/gcov/gcov.h"
	printf 'modules:\n\tcd $(M) && gcc --coverage -c qp.c main.c\n' >"$tree/Makefile"
	mkdir "$kernel/modules"
	echo "$tree $tree" >"$kernel/shows"
	code 1 $ci --kernel "$this" --continue --parts probe --links ib
	grep "^table: .* has counts of another build: run without --continue" "$tmp/err"
	tail -n 1 "$tmp/err" | grep '^mlx5-ci: --continue cannot add to the counts of the runs'
	[ "$(cd "$out/probe.ib" && echo *)" = probe.results ]
	# Where it shows after the tests, they are counted all the same.
	code 1 $ci --kernel "$this" --table
	tail -n 1 "$tmp/out" | grep -x \
		'mlx5-ci: 2 passed, 0 failed, 3 skipped; coverage not measured, see above'
}

failures()
{
	echo 'crash tests.a.B.e' >>"$out/suites.eth/driver.results"
	rm -r "$out/data"
	code 1 $ci --kernel "$this" --table
	grep -x 'mlx5-ci: suites.eth/tests.a.B.e: crash' "$tmp/out"
	grep -x 'mlx5-ci: no coverage: no guest has left counts' "$tmp/out"
	tail -n 1 "$tmp/out" |
		grep -x 'mlx5-ci: 2 passed, 1 failed, 3 skipped; coverage not measured'
	rm -r "$out"
	code 1 $ci --kernel "$this" --table
	# Known failures alone.
	mkdir -p "$out/suites.eth"
	echo "fail $(known)" >"$out/suites.eth/driver.results"
	code 1 $ci --kernel "$this" --table
	tail -n 1 "$tmp/out" |
		grep -x 'mlx5-ci: 0 passed, 0 failed, 1 skipped; coverage not measured'
}

# What is wrong with an option is said before the results of the last run are removed.
results_stay()
{
	mkdir -p "$out/probe.ib" "$out/linux"
	echo 'ok device' >"$out/probe.ib/probe.results"
	cp -r "$tree"/* "$out/linux/"
	code 1 $ci --kernel "$this" --source "$out/linux"
	grep -F -- "--source is below $PWD/$out, where the results are" "$tmp/err"
	code 1 $ci --kernel "$this" --tests 'no_such_test_*'
	grep 'no test has a name like no_such_test_' "$tmp/err"
	[ -e "$out/probe.ib/probe.results" ]
	rm -r "$out"
}

# Of a run that goes on, nothing is removed. The runner of this test may have the lock of
# the checkout.
one_at_a_time()
{
	mkdir -p "$out/probe.ib"
	echo 'ok device' >"$out/probe.ib/probe.results"
	exec 7>"$out.lock" 8>build/check.lock
	flock 7
	code 1 $ci --kernel "$this"
	grep -F "another run uses $PWD/$out" "$tmp/err"
	exec 7>&-
	flock -n 8 || :
	code 1 $ci --kernel "$this" --parts '' --tests uuar_query
	grep 'another run of the tests uses this checkout' "$tmp/err"
	exec 8>&-
	[ -e "$out/probe.ib/probe.results" ]
	rm -r "$out"
}

without_ipoib()
{
	: >"$kernel/kbuild"
	echo CONFIG_INFINIBAND_IPOIB >"$kernel/lacks"
	code 1 $ci --kernel "$this" --parts suites --links ib
	grep -x 'mlx5-ci: no test passed' "$tmp/out"
	tail -n 1 "$tmp/out" |
		grep -x 'mlx5-ci: 0 passed, 0 failed, 1 skipped; coverage not measured'
	echo "$tree" >"$kernel/kbuild"
	rm -r "$kernel/lacks" "$out"
}

plan 10
check 'options that it does not know are refused' refused
check 'a kernel that cannot run without the module is refused' built_in
check 'kernels with gcov and without: what is compiled' plans
check 'a kernel without sources or headers: how to get coverage' without_sources
check 'wrong options leave the results of earlier runs' results_stay
check 'a run that goes on keeps its results and its driver' one_at_a_time
check 'the suites need IPoIB on InfiniBand' without_ipoib
check 'the table of recorded counts, and the last line' table
check 'counts of another build of the driver are refused before a guest starts' other_build
check 'a failure, a run without counts, and no run' failures
ktap_finished
