#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 30
#
# The job of lkp-tests: its groups are areas that are installed, its program starts the
# right tests, and its parser turns KTAP into results. lkp-tests is a stand-in here.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

lkp=$PWD/selftests/kselftest/lkp
export LKP_SRC=$tmp/lkp BENCHMARK_ROOT=$tmp/benchmarks suite=mlx5_ep
mkdir -p "$LKP_SRC/lib" "$BENCHMARK_ROOT/$suite"
touch "$LKP_SRC/lib/debug.sh"
cat >"$LKP_SRC/lib/run.sh" <<'END'
log_cmd() { "$@"; }
cd_benchmark() { cd "$BENCHMARK_ROOT/$suite"; }
END
cat >"$BENCHMARK_ROOT/$suite/run_kselftest.sh" <<'END'
#!/bin/sh
echo "run_kselftest.sh $*"
exit 1
END
chmod +x "$BENCHMARK_ROOT/$suite/run_kselftest.sh"

# All areas, as the page says.
groups()
{
	sed -n 's/^  - //p' "$lkp/mlx5_ep.yaml" | sort >"$tmp/groups"
	selftests/kselftest/install --targets |
		sed -n 's,^mlx5_ep/\(.*\),\1,p' | grep -vx vm | sort >"$tmp/areas"
	[ "$(wc -l <"$tmp/areas")" -gt 3 ]
	diff "$tmp/areas" "$tmp/groups"
	grep -q 'split into one for each area' selftests/kselftest/README.md
}

# Each option is in selftests/config, with the same value.
options()
{
	sed -n 's/^- \([A-Z0-9_]*\): \(.\)$/CONFIG_\1=\2/p' "$lkp/include" >"$tmp/want"
	[ "$(wc -l <"$tmp/want")" -gt 5 ]
	sed '/^# ---/,$d' selftests/config >"$tmp/needed"
	code 1 grep -vxFf "$tmp/needed" "$tmp/want"
}

# This machine has no HCA with mlx5_ep: guests are started. The status is that of the
# tests.
starts_guests()
{
	group=xrc code 1 "$lkp/run"
	grep -x 'run_kselftest.sh -t mlx5_ep/vm:xrc' "$tmp/out"
}

parses()
{
	"$lkp/parse" >"$tmp/have" <<-'END'
	KTAP version 1
	1..4
	# timeout set to 240
	# ok 1 a policy is kept
	# not ok 2 a page is freed
	ok 1 selftests: mlx5_ep/uuar: uuar_query
	ok 2 selftests: mlx5_ep/uuar: uuar_numa # SKIP the test needs 2 nodes
	not ok 3 selftests: mlx5_ep/xrc: xrc_values # exit=1
	# Totals: pass:1 fail:1
	END
	diff - "$tmp/have" <<-'END'
	mlx5_ep/uuar.uuar_query.a_policy_is_kept.pass: 1
	mlx5_ep/uuar.uuar_query.a_page_is_freed.fail: 1
	mlx5_ep/uuar.uuar_query.pass: 1
	mlx5_ep/uuar.uuar_numa.skip: 1
	mlx5_ep/xrc.xrc_values.fail: 1
	END
}

# Tests of a guest are below the area that has started it. Two of them have a case of the
# same name, and one runs a case twice. The last guest was lost.
parses_nested()
{
	"$lkp/parse" >"$tmp/have" <<-'END'
	# KTAP version 1
	#   not ok 1 opens
	#   ok 2 closes
	# not ok 1 attach_cycle # 1 failed # time=1.0
	#   ok 1 opens
	#   not ok 2 stays
	#   ok 3 stays
	# ok 2 attach_edges # time=2.0
	# ok 3 attach_none # SKIP no such kernel # time=0.0
	not ok 1 selftests: mlx5_ep/vm: attach # exit=1
	#   not ok 1 opens
	END
	diff - "$tmp/have" <<-'END'
	mlx5_ep/vm.attach.attach_cycle.opens.fail: 1
	mlx5_ep/vm.attach.attach_cycle.closes.pass: 1
	mlx5_ep/vm.attach.attach_cycle.fail: 1
	mlx5_ep/vm.attach.attach_edges.opens.pass: 1
	mlx5_ep/vm.attach.attach_edges.stays.fail: 1
	mlx5_ep/vm.attach.attach_edges.pass: 1
	mlx5_ep/vm.attach.attach_none.skip: 1
	mlx5_ep/vm.attach.fail: 1
	opens.fail: 1
	END
}

plan 5
check 'the groups of the job are the areas' groups
check 'the options of the kernel are those of the tests' options
check 'without an HCA it starts guests' starts_guests
check 'KTAP becomes results' parses
check 'a test within a test has the names of both' parses_nested
ktap_finished
