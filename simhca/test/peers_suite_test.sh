#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 30
#
# What the script `suite` makes of a run of rdma-core's tests: each test has a result, or a
# line says that some have none. The tests are three of a stand-in, whose process ends in
# different ways.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

out=$tmp/out-of-guest
mkdir -p "$out/rdma-core/tests"

# stand_in LINE...: the suite, whose tests are a, b and c of the class tests.t.T
stand_in()
{
	cat >"$out/rdma-core/tests/run_tests.py" <<-'END'
	import os, sys, unittest

	class T(unittest.TestCase):
	    def test_a(self): pass
	    def test_b(self): pass
	    def test_c(self): self.skipTest("no moon")

	T.__module__ = "tests.t"
	T.__qualname__ = "T"
	NAMES = ["tests.t.T.test_" + name for name in "abc"]
	END
	printf '%s\n' "$@" >>"$out/rdma-core/tests/run_tests.py"
	cat >>"$out/rdma-core/tests/run_tests.py" <<-'END'
	if "--list-tests" in sys.argv:
	    print("\n".join(NAMES))
	    sys.exit(1)
	begin()
	chosen = [name for name in sys.argv if name in NAMES] or NAMES
	suite = unittest.TestSuite(T(name.split(".")[-1]) for name in chosen)
	unittest.TextTestRunner(verbosity=2).run(suite)
	END
}

# leaves LINE...: these are the results, in any order
leaves()
{
	: >"$out/driver.results"
	simhca/peers/suite "$out" driver mlx5_0
	sed 's/ *$//' "$out/driver.results" | sort | diff <(printf '%s\n' "$@" | sort) -
	[ "$(cd "$out" && echo *)" = 'driver.log driver.results rdma-core' ]
}

whole()
{
	stand_in 'def begin(): pass'
	leaves 'ok tests.t.T.test_a' 'ok tests.t.T.test_b' \
		"skip tests.t.T.test_c 'no moon'"
	grep -q '^Ran 3 tests' "$out/driver.log"
}

# Each process has as much time as the guest is slower. A stand-in notes it.
limits()
{
	mkdir -p "$tmp/bin"
	# shellcheck disable=SC2016 # for the stand-in
	printf '#!/bin/sh\necho "$1" >>"%s"\nshift\nexec "$@"\n' "$tmp/limits" \
		>"$tmp/bin/timeout"
	chmod +x "$tmp/bin/timeout"
	stand_in 'def begin(): pass'
	PATH=$tmp/bin:$PATH MLX5_EP_SLOWNESS=4 leaves 'ok tests.t.T.test_a' \
		'ok tests.t.T.test_b' "skip tests.t.T.test_c 'no moon'"
	[ "$(cat "$tmp/limits")" = 3600 ]
}

crash()
{
	stand_in 'def begin(): pass' 'T.test_a = lambda self: os._exit(139)'
	leaves 'crash tests.t.T.test_a' 'ok tests.t.T.test_b' \
		"skip tests.t.T.test_c 'no moon'"
	# The last one takes only itself with it.
	stand_in 'def begin(): pass' 'T.test_c = lambda self: os._exit(139)'
	leaves 'ok tests.t.T.test_a' 'ok tests.t.T.test_b' 'crash tests.t.T.test_c'
}

# The process ends after the result of the first test.
between()
{
	stand_in 'def begin(): pass' \
		'def stop(result, test): os._exit(1)' \
		'unittest.TextTestResult.stopTest = stop'
	leaves 'ok tests.t.T.test_a' \
		'fail rdma-core the process ended early: 2 tests have no result'
}

# The class fails before its tests, or after them.
classes()
{
	stand_in 'def begin(): pass' \
		'def lost(): raise OSError("no device")' 'T.setUpClass = lost'
	leaves 'fail tests.t.T'
	stand_in 'def begin(): pass' \
		'def lost(): raise OSError("no device")' 'T.tearDownClass = lost'
	leaves 'ok tests.t.T.test_a' 'ok tests.t.T.test_b' \
		"skip tests.t.T.test_c 'no moon'" 'fail tests.t.T'
}

# Python ends before the first test, and where it cannot even list them.
none()
{
	stand_in 'def begin(): raise ImportError("pyverbs")'
	leaves 'fail rdma-core the process ended early: 3 tests have no result'
	grep -q 'ImportError: pyverbs' "$out/driver.log"
	stand_in 'raise ImportError("pyverbs")'
	leaves 'fail rdma-core the process ended early: 0 tests have no result'
}

plan 6
check 'each test has a result' whole
check 'on a slow kernel the tests have more time' limits
check 'a crash is the result of a test, and the others run' crash
check 'an end between two tests is a failure' between
check 'what a class does before and after its tests can fail' classes
check 'a suite of which nothing runs is a failure' none
ktap_finished
