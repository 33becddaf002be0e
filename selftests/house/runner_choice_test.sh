#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full
#
# What .ci/run chooses: a share of the tests that turns, and the tests of what has
# changed. Programs in the place of the runner and of git say which tests there are and
# what has changed.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

tree=$tmp/tree
mkdir -p "$tree/bin" "$tree"/selftests/{uuar,tool,mutants,lib} "$tree/kernel/uuar"
cp -r selftests/runner "$tree/selftests"
cp selftests/lib/slowness.sh "$tree/selftests/lib"
# Seconds of one CPU: 10, 10, 40 and 20.
cat >"$tree/selftests/run" <<'END'
#!/bin/sh
echo 'a where=guest tier=full'
echo 'b where=guest tier=core'
echo 'c where=host timeout=80'
echo 'd where=guest tier=full smp=2'
echo 'e where=guest tier=full long=yes'
echo 'f where=guest tier=full smp=2 kernels=6.1 newest'
END
printf '%s\n' 'a 10' 'd 20' 'f 10' >"$tree/selftests/runner/durations"
printf 'kernel/uuar/x.c\ta:2 b f\nkernel/*\td\n' >"$tree/selftests/mutants/areas"
printf '#!/bin/sh\ncat "%s/changed"\n' "$tmp" >"$tree/bin/git"
printf '#!/bin/sh\necho 2\n' >"$tree/bin/nproc"
chmod +x "$tree/selftests/run" "$tree"/bin/*
touch "$tree"/selftests/uuar/{c_test.c,x.h} "$tree/selftests/tool/d_test.sh"
export PATH=$tree/bin:$PATH

# share TURN SECONDS: prints the tests in one line
share()
{
	"$tree/selftests/runner/share" "$@" | paste -sd' '
}

turns()
{
	prints 'a c' share 0 20
	prints 'd' share 1 20
	prints 'f' share 5 20
	prints 'd' share 6 1
	prints 'a c d f' share 7 40
	prints 'a c d f' share 0 1000
	prints '' share 3 0
}

# Each test has its turn.
all_seen()
{
	local turn

	for turn in {0..3}; do
		"$tree/selftests/runner/share" $turn 20
	done | sort -u | paste -sd' ' >"$tmp/seen"
	cat "$tmp/seen"
	[ "$(cat "$tmp/seen")" = 'a c d f' ]
}

# touched SECONDS FILE...: prints the tests in one line
touched()
{
	printf '%s\n' "${@:2}" >"$tmp/changed"
	"$tree/selftests/runner/touched" HEAD "$1" 2>"$tmp/err" | paste -sd' '
}

by_area()
{
	prints 'a f' touched 100 kernel/uuar/x.c
	prints 'd' touched 100 kernel/y.h
	prints 'a f d' touched 100 kernel/y.h kernel/uuar/x.c
}

by_folder()
{
	prints 'c' touched 100 selftests/uuar/x.h
	prints 'd' touched 100 selftests/tool/d_test.sh
	prints 'a' touched 100 selftests/uuar/a_test.c
	prints '' touched 100 README.md Makefile
}

short_of_time()
{
	prints 'a f' touched 15 kernel/y.h kernel/uuar/x.c
	grep -x 'touched: no time for: d' "$tmp/err"
}

usages()
{
	code 2 "$tree/selftests/runner/share" 1
	code 2 "$tree/selftests/runner/share" 1 -2
	code 2 "$tree/selftests/runner/touched"
	code 2 "$tree/selftests/runner/touched" HEAD soon
}

plan 6
check 'a share is as long as there is time, and turns' turns
check 'each test has its turn' all_seen
check 'a source has the tests of its area' by_area
check 'another file has the tests of its folder' by_folder
check 'what there is no time for is named' short_of_time
check 'commands say how they are used' usages
ktap_finished
