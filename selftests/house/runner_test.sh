#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 240
#
# The runner in a tree of small tests whose guests are processes of this
# machine. It must count right, and must fail if anything goes wrong.

# Text in single quotes is for the shell of the small tests.
# shellcheck disable=SC2016

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# The settings of this run must not apply to the runs below.
unset MLX5_EP_PATIENCE MLX5_EP_JOBS MLX5_EP_CPUS MLX5_EP_WRAP TZ N SEED EXECUTIONS

tree=$tmp/tree
mkdir -p "$tree/selftests" "$tree/lab" "$tree/bin"
cp -r selftests/run selftests/lib selftests/runner "$tree/selftests"
rm -f "$tree"/selftests/runner/*_test.*
mkdir "$tree/userlib"

# A guest is a process that has its own kernel log, dies if told so and loses
# memory where there is a file "leaks".
cat >"$tree/lab/vm" <<'END'
#!/usr/bin/env bash
top=$(dirname "$0")/..
while [ "$1" != -- ]; do
	[ "$1" != --smp ] || smp=$2
	[ "$1" != --link ] || link=$2
	shift
done
shift
echo "${link:-ib}" >>"$top/links"
echo "begin $smp $*" >>"$top/trace"
trap 'echo "end $smp $*" >>"$top/trace"' EXIT
export SIMHCA_CONTROL=socket
export KLOG_DEVICE=$(mktemp) PATH=$top/bin:$PATH
echo "$*" >>"$top/boots"
bash -c 'export RUN_LIST=$$; exec "$@"' - "$@" || exit
[ -e "$top/leaks" ] || exit 0
echo 'memory is lost' >&2
exit 125
END
printf '#!/bin/sh\nexec "$@"\n' >"$tree/lab/enter"
printf '#!/bin/sh\ncat "$KLOG_DEVICE"\n' >"$tree/bin/dmesg"
printf '#!/bin/sh\necho "built $*" >>"${0%%/*}/../boots"\n' \
	>"$tree/lab/debug-kernel"
sed 's/built/programs/' "$tree/lab/debug-kernel" \
	>"$tree/lab/build-programs"

# A kernel that is named by a path has no KSM, and is slow.
cat >"$tree/lab/kernel" <<'END'
#!/bin/sh
cd "$(dirname "$0")/.." && mkdir -p build/lab/kernels/9.9-abc &&
	echo CONFIG_KSM >build/lab/kernels/9.9-abc/lacks &&
	echo 4 >build/lab/kernels/9.9-abc/slowness
echo "$*" >asked
echo 9.9-abc
END
printf '%s\n' 'lab_need() { :; }; lab_kernels() { printf "%s\n" 6.1 7.2 9.9; }' \
	>"$tree/lab/lib.sh"
cat >"$tree/bin/simhca-ctl" <<'END'
#!/bin/sh
case $1 in
cmdlog) echo '{"ok":true,"log":[{"seq":7,"hca":0,"op":"CREATE_QP","status":3},
{"seq":8,"hca":0,"op":"QUERY_QP","status":0}]}' ;;
dump) echo '{"ok":true,"hcas":[{"errors":{"torn":2,"bad_wqe":0}}]}' ;;
esac
END
chmod +x "$tree/bin/simhca-ctl"

# a_test NAME HEADER BODY: writes a small test
a_test()
{
	printf '#!/usr/bin/env bash\n# runs on: %s\necho TAP version 13\n%s\n' \
		"$2" "$3" >"$tree/selftests/$1_test.sh"
}

a_test good 'guest, hca: 2' 'echo 1..3; echo ok 1 a; echo chatter
echo "ok 2 b # SKIP no cheese"; echo ok 3 c'
a_test good_too guest 'echo 1..1; echo ok 1 a'
a_test alone 'guest, guest: alone' 'echo 1..1; echo ok 1 a'
a_test two_cpus 'guest, smp: 2' 'echo 1..1; echo ok 1 a'
a_test two_more 'guest, smp: 2, mem: 2G' 'echo 1..1; echo ok 1 a'
a_test later guest 'echo 1..1; echo ok 1 a'
a_test early_nap guest 'echo 1..1; sleep 2; echo ok 1 a'
a_test longer 'guest, guest: longer, timeout: 200' 'echo 1..1; echo ok 1 a'
a_test on_host host 'echo 1..1; echo ok 1 a'
a_test skipped guest 'echo "1..0 # SKIP no moon"; exit 4'
a_test slow 'guest, long: yes' 'echo 1..1; echo "# progress: 1 of 2"; echo ok 1 a'
a_test picky 'guest, kernels: 9.9' 'echo 1..1; echo ok 1 a'
a_test for_debug 'guest, kernels: debug' 'echo 1..1; echo ok 1 a'
a_test for_newest 'guest, kernels: 6.1 newest' 'echo 1..1; echo ok 1 a'
a_test for_fuzzer 'guest, kernels: debug, instrument: kcov' 'echo 1..1; echo ok 1 a'
a_test bad_result guest 'echo 1..2; echo not ok 1 a; echo ok 2 b; exit 1'
a_test bad_lie guest 'echo 1..1; echo not ok 1 a'
a_test bad_status guest 'echo 1..1; echo ok 1 a; exit 3'
a_test bad_skip guest 'echo 1..2; echo not ok 1 a; exit 4'
a_test bad_short guest 'echo 1..3; echo ok 1 a'
a_test bad_silent guest 'true'
# A process in a group of its own holds the pipe, whatever becomes of the test.
a_test bad_slow 'guest, timeout: 1' 'echo 1..1; echo ok 1 a; set -m; sleep 1000 & wait'
a_test bad_klog guest 'echo 1..1; echo "BUG: x" >>"$KLOG_DEVICE"; echo ok 1 a'
a_test bad_stray guest 'echo 1..1; echo ok 1 a; sleep 77 >/dev/null 2>&1 &'
# They keep the output of the test open, as one that a failed check leaves does.
a_test bad_mute_stray guest 'echo 1..1; echo ok 1 a; sleep 77 &'
a_test bad_daemon guest 'echo 1..1; echo ok 1 a; setsid sleep 77 &'
# It ends a second after the test, whose last words are older than that.
a_test brief_daemon guest 'echo 1..1; echo ok 1 a; setsid sleep 2.5 & sleep 1.5'
a_test bad_lost guest 'echo 1..2; echo ok 1 a
kill -9 "$RUN_LIST"; sleep 5'
a_test worse_after_bad guest 'echo 1..1; echo ok 1 a'
chmod +x "$tree"/selftests/*_test.sh "$tree"/lab/* "$tree"/bin/*

# run_as STATUS LAST OPTION...: checks the run's exit status and last line
run_as()
{
	local want=$1 last=$2 status=0

	shift 2
	rm -f "$tree/boots"
	"$tree/selftests/run" "$@" >"$tmp/run" 2>&1 || status=$?
	cat "$tmp/run"
	[ "$status" -eq "$want" ] || fail "exit status $status, not $want"
	[ "$(tail -n 1 "$tmp/run")" = "$last" ] || fail "last line is not $last"
}

boots()
{
	[ "$(wc -l <"$tree/boots")" -eq "$1" ] || fail "$(cat "$tree/boots")"
}

passes()
{
	run_as 0 '4 passed, 0 failed, 1 skipped' --kernels 7.2 \
		--tests 'good* on_host'
	boots 1
}

per_kernel()
{
	run_as 0 '6 passed, 0 failed, 2 skipped' --kernels '6.1 7.2' \
		--tests 'good*'
	boots 2
}

# make check runs the core tests on the newest kernel, and some of them on the oldest too.
core()
{
	a_test small 'guest, tier: core' 'echo 1..1; echo ok 1 a'
	a_test smaller 'guest, tier: core, oldest: yes' 'echo 1..1; echo ok 1 a'
	a_test large 'guest, tier: full, oldest: yes' 'echo 1..1; echo ok 1 a'
	a_test host_small 'host, tier: core' 'echo 1..1; echo ok 1 a'
	chmod +x "$tree"/selftests/*_test.sh
	run_as 0 '4 passed, 0 failed, 0 skipped' --core
	grep -E '^newest +ok .* small ' "$tmp/run"
	grep -E '^6.1 +ok .* smaller ' "$tmp/run"
	boots 2
	run_as 0 '1 passed, 0 failed, 0 skipped' --kernels 7.2 --tests large
	a_test large 'guest, tier: some' 'echo 1..1; echo ok 1 a'
	code 2 "$tree/selftests/run" --core
	grep -x 'selftests/large_test.sh: tier: some?' "$tmp/err"
	rm "$tree"/selftests/{small,smaller,large,host_small}_test.sh
}

# --link is for tests that do not say what they need; results have their own folder.
links()
{
	rm -f "$tree/links"
	a_test frames 'guest, link: eth' 'echo 1..1; echo ok 1 a'
	chmod +x "$tree/selftests/frames_test.sh"
	run_as 0 '2 passed, 0 failed, 0 skipped' --kernels 7.2 \
		--tests 'good_too frames'
	[ "$(sort "$tree/links" | paste -sd' ')" = 'eth ib' ] || fail "$(cat "$tree/links")"
	rm "$tree/links"
	run_as 0 '2 passed, 0 failed, 0 skipped' --kernels 7.2 --link eth \
		--tests 'good_too frames'
	[ "$(cat "$tree/links")" = eth ] || fail "$(cat "$tree/links")"
	[ -e "$tree/build/check-eth/7.2/results.ktap" ]
	run_as 1 '0 passed, 1 failed, 0 skipped' --kernels 7.2 --link eth \
		--tests bad_silent
	grep -q '| alone: *make check TESTS=bad_silent KERNELS=7.2 LINK=eth$' \
		"$tmp/run"
	run_as 1 '0 passed, 1 failed, 0 skipped' --failed --link eth
	rm "$tree/selftests/frames_test.sh"
}

# In another environment the results have their own folder, a failure says how to get
# there, and guests have two CPUs.
elsewhere()
{
	rm -f "$tree/trace" "$tree/build/check.history.json"
	a_test abroad guest 'echo 1..1
[ "$TZ" != Pacific/Chatham ] || { echo not ok 1 a; exit 1; }; echo ok 1 a'
	chmod +x "$tree/selftests/abroad_test.sh"
	run_as 0 '1 passed, 0 failed, 0 skipped' --kernels 7.2 --tests abroad
	run_as 1 '0 passed, 1 failed, 0 skipped' --kernels 7.2 --tests abroad \
		--other-environment
	grep -q '| alone: *make check TESTS=abroad KERNELS=7.2 ENVIRONMENT=other$' \
		"$tmp/run"
	grep -q '| unsteady: .* 20 abroad --kernels 7.2 --other-environment$' "$tmp/run"
	[ -e "$tree/build/check-other/7.2/results.ktap" ]
	[ "$(sed -n 's/^begin \([0-9]*\) .*/\1/p' "$tree/trace" | paste -sd' ')" = '1 2' ] ||
		fail "$(cat "$tree/trace")"
	[ "$(jq -c '[."7.2/abroad", ."7.2+other/abroad" | .failures]' \
		"$tree/build/check.history.json")" = '[0,1]' ] ||
		fail "$(cat "$tree/build/check.history.json")"
	run_as 1 '0 passed, 1 failed, 0 skipped' --failed --other-environment
	rm "$tree/selftests/abroad_test.sh"
}

# What check-long runs, in this order. If tests are chosen, only these run.
long_parts()
{
	local program long=$tmp/long/selftests

	for program in run coverage/run mutants/run fuzz/run runner/long; do
		mkdir -p "$(dirname "$long/$program")"
		printf '#!/bin/sh\necho "%s $*" >>"%s"\n' "$program" "$tmp/asked" \
			>"$long/$program"
		chmod +x "$long/$program"
	done
	cp selftests/runner/long "$long/runner/long"
	SEED=5 "$long/runner/long"
	printf '%s\n' 'run --long' 'run --kernels 7.2 --other-environment' 'coverage/run ' \
		'mutants/run --number 60 --seed 5' \
		'fuzz/run --executions 1000000 --seed 5' | diff - "$tmp/asked"
	rm "$tmp/asked"
	"$long/runner/long" --tests 'xrc_*'
	echo 'run --long --tests xrc_*' | diff - "$tmp/asked"
}

# own_make ARGUMENT...: make that is told nothing by the make above this test
own_make()
{
	env -i PATH="$PATH" ${ARCH:+ARCH=$ARCH} make "$@"
}

# make's words become options; one that means nothing is refused.
made()
{
	local goal core top=$tmp/made

	mkdir -p "$top/lab" "$top/selftests/runner"
	cp Makefile "$top"
	printf '#!/bin/sh\n' | tee "$top/lab/setup" >"$top/lab/enter"
	printf '#!/bin/sh\necho "asked: $*"\n' |
		tee "$top/selftests/run" >"$top/selftests/runner/long"
	chmod +x "$top"/selftests/{run,runner/*} "$top"/lab/*
	for goal in check check-all check-long; do
		core=''
		[ $goal != check ] || core='--core'
		code 0 own_make -C "$top" $goal ARCH=arm64 KERNELS=64k LINK=eth
		grep -x 'asked: --link eth --kernels 64k --arch arm64' "$tmp/out"
		code 2 own_make -C "$top" $goal ARCH=aarch64
		grep 'ARCH=aarch64: only "arm64" is known' "$tmp/err"
		code 2 own_make -C "$top" $goal ARCH='arm64 x'
		must_fail grep asked "$tmp/out"
		ARCH=x86 code 0 own_make -C "$top" $goal ARCH=
		ARCH=x86 code 0 own_make -C "$top" $goal
		grep -xE "asked: ?$core" "$tmp/out"
		code 2 own_make -C "$top" $goal ENVIRONMENT=no
	done
}

own_guest()
{
	run_as 0 '4 passed, 0 failed, 1 skipped' --kernels 7.2 \
		--tests 'good* alone'
	boots 2
}

skip_reason()
{
	run_as 0 '0 passed, 0 failed, 1 skipped' --kernels 7.2 --tests skipped
	grep -q 'no moon' "$tmp/run"
}

kernels_named()
{
	run_as 0 '1 passed, 0 failed, 0 skipped' --kernels '7.2 9.9' \
		--tests picky
}

# A kernel that is named by a path has a name; what it lacks is a reason to skip.
by_path()
{
	a_test merges 'guest, config: HUGETLBFS KSM' 'echo 1..1; echo ok 1 a'
	a_test packed 'guest, module: dkms' 'echo 1..1; echo ok 1 a'
	chmod +x "$tree"/selftests/{merges,packed}_test.sh
	run_as 0 '3 passed, 0 failed, 1 skipped' --kernels '7.2 ./a/tree' \
		--headers h --tests 'good_too merges'
	run_as 0 '1 passed, 0 failed, 2 skipped' --kernels ./a/tree \
		--headers h --tests 'good_too merges packed'
	boots 1
	grep -q ' good_too:960:' "$tree/boots"
	[ "$(cat "$tree/asked")" = '--headers h ./a/tree' ]
	grep -q '^9.9-abc ok .*merges .*(the kernel has no CONFIG_KSM)' "$tmp/run"
	grep -q '# SKIP the kernel has no CONFIG_KSM' \
		"$tree/build/check/9.9-abc/results.ktap"
	grep -q "packed .*(DKMS is run for the lab's own kernels)" "$tmp/run"
	run_as 0 '0 passed, 0 failed, 1 skipped' --kernels ./a/tree --tests merges
	run_as 2 'run: --headers goes with a kernel that is named by a path' \
		--kernels '6.12 7.2' --headers h --tests good_too
	run_as 2 'run: --headers goes with a kernel that is named by a path' \
		--headers h --tests good_too
	[ ! -e "$tree/boots" ]
	a_test stock 'guest, module: no' 'echo 1..1; echo ok 1 a'
	chmod +x "$tree/selftests/stock_test.sh"
	run_as 0 '1 passed, 0 failed, 0 skipped' --kernels ./a/tree --tests stock
	echo builtin >"$tree/build/lab/kernels/9.9-abc/own"
	run_as 0 '0 passed, 0 failed, 1 skipped' --kernels ./a/tree --tests stock
	grep -q 'stock .*(the kernel has mlx5_ep built in)' "$tmp/run"
	rm "$tree"/build/lab/kernels/9.9-abc/own "$tree"/selftests/stock_test.sh
	rm "$tree"/selftests/{merges,packed}_test.sh
}

# A test that fails by chance does not fail again. A kernel report or a time limit
# is no chance, so such a test is not run again.
failed_ones()
{
	local luck=$tmp/luck

	rm -f "$luck"
	a_test lucky guest "echo 1..1; [ -e $luck ] && echo ok 1 a && exit
touch $luck; echo not ok 1 a; exit 1"
	chmod +x "$tree/selftests/lucky_test.sh"
	run_as 1 '1 passed, 1 failed, 1 skipped' --kernels 7.2 \
		--tests 'lucky good_too skipped'
	run_as 0 '1 passed, 0 failed, 0 skipped' --failed
	grep -q '^lucky FAILED' "$tree/build/check.first/7.2/records"
	boots 1
	run_as 1 'run: nothing failed in the last run' --failed
	run_as 1 '1 passed, 1 failed, 0 skipped' --kernels 7.2 \
		--tests 'bad_result'
	run_as 1 '1 passed, 1 failed, 0 skipped' --failed
	run_as 1 '1 passed, 1 failed, 0 skipped' --kernels 7.2 --tests bad_klog
	run_as 1 'run: what failed is no matter of luck' --failed
	run_as 1 '1 passed, 1 failed, 0 skipped' --kernels 7.2 --tests bad_slow
	run_as 1 'run: what failed is no matter of luck' --failed
}

# No kernel is looked at for what failed on the host, and where a test of guests failed no
# other is.
failed_alone()
{
	local arm=$tree/selftests/runner/arm64

	a_test packed 'guest, module: dkms' 'echo 1..1; echo ok 1 a'
	a_test worse 'host' 'echo 1..1; echo not ok 1 a; exit 1'
	chmod +x "$tree"/selftests/{packed,worse}_test.sh
	cp "$arm" "$tmp/list"
	echo packed >"$arm"
	run_as 1 '0 passed, 1 failed, 0 skipped' --tests worse
	run_as 1 '0 passed, 1 failed, 0 skipped' --failed
	cp "$tmp/list" "$arm"
	run_as 1 '1 passed, 1 failed, 1 skipped' --kernels ./a/tree --tests 'packed bad_result'
	run_as 1 '1 passed, 1 failed, 0 skipped' --failed
	rm "$tree"/selftests/{packed,worse}_test.sh
}

long_ones()
{
	run_as 1 'run: no test matches: slow' --kernels 7.2 --tests slow
	run_as 0 '1 passed, 0 failed, 0 skipped' --kernels 7.2 --tests slow \
		--long
	grep -qx '7.2 *# progress: 1 of 2' "$tmp/run"
}

# The debug kernel is the first line of boots: it is built before a guest
# starts.
debug_lane()
{
	run_as 0 '1 passed, 0 failed, 0 skipped' --kernels debug \
		--tests good_too
	head -n 1 "$tree/boots" | grep -qx 'built '
	grep -q ' good_too:960:' "$tree/boots"
	run_as 0 '4 passed, 0 failed, 1 skipped' --kernels 'debug 7.2' \
		--tests 'good*' --debug-tests 'a* *too'
}

# The kernel gcov is of the newest series, and makes calls fail as debug does.
gcov_lane()
{
	run_as 0 '2 passed, 0 failed, 0 skipped' --kernels gcov --tests 'picky for_*'
	head -n 1 "$tree/boots" | grep -qx 'built --gcov'
	must_fail grep 'fuzzer\|picky' "$tree/boots"
	run_as 0 '2 passed, 0 failed, 0 skipped' --kernels debug --tests 'picky for_*'
	must_fail grep 'newest\|picky' "$tree/boots"
	run_as 0 '1 passed, 0 failed, 0 skipped' --kernels newest --tests 'picky for_*'
}

without()
{
	run_as 0 '2 passed, 0 failed, 0 skipped' --kernels '6.12 7.2' \
		--tests good_too --without '6.12/bad* 7.2/goo'
	run_as 0 '1 passed, 0 failed, 0 skipped' --kernels '6.12 7.2' \
		--tests good_too --without '6.12/good*'
	! grep '^6\.12' "$tmp/run" || fail 'a test that is left out ran'
	run_as 0 '2 passed, 0 failed, 0 skipped' --kernels '6.12 7.2' \
		--tests 'good_too on_host' --without 'host/on_*'
}

kcsan_lane()
{
	run_as 0 '1 passed, 0 failed, 0 skipped' --kernels kcsan \
		--tests 'good* two_cpus'
	head -n 1 "$tree/boots" | grep -qx 'built --kcsan'
	run_as 0 '7 passed, 0 failed, 0 skipped' --long --tests two_cpus
	grep -q '^debug: 1 passed' "$tmp/run"
	grep -q '^built --kcsan' "$tree/boots"
	grep -q '^built --arm64-64k' "$tree/boots"
	grep -q '^programs arm64' "$tree/boots"
}

# Kernels of another architecture run the tests of their lists, and this machine runs
# none. A test that is named runs.
arm_lane()
{
	local list=$tree/selftests/runner/arm64-16k

	cp "$list" "$tmp/list"
	echo good_too >"$list"
	run_as 0 '1 passed, 0 failed, 0 skipped' --arch arm64 --kernels 16k
	run_as 0 '3 passed, 0 failed, 0 skipped' --arch arm64 --kernels 16k \
		--tests 'two_* on_host'
	cp "$tmp/list" "$list"
}

fails()
{
	run_as 1 "$2" --kernels 7.2 --tests "bad_$1"
	grep -q "FAILED .*bad_$1.*$3" "$tmp/run"
	sed '1,/^failed:$/d' "$tmp/run" | grep -q "FAILED .*bad_$1.*$3" ||
		fail "the failure is not shown again at the end"
}

goes_on()
{
	run_as 1 '1 passed, 1 failed, 0 skipped' --kernels 7.2 \
		--tests 'bad_lost worse_after_bad'
	boots 2
	run_as 1 '2 passed, 1 failed, 0 skipped' --kernels 7.2 \
		--tests 'bad_klog worse_after_bad'
	boots 2
}

# A guest that failed counts besides a failed test, and rules out a second run.
guest_fails()
{
	touch "$tree/leaks"
	run_as 1 '1 passed, 1 failed, 0 skipped' --kernels 7.2 --tests good_too
	grep -q 'FAILED .* guest .*exit status 125' "$tmp/run"
	grep -q 'memory is lost' "$tmp/run"
	grep -q "| again: *selftests/run --kernels 7.2 --tests 'good_too'\$" "$tmp/run"
	grep -q '| logs: .*build/check/7.2/results.ktap build/.*log$' "$tmp/run"
	run_as 1 '1 passed, 1 failed, 0 skipped' --kernels 7.2 --link eth --long \
		--flaky 1 slow
	grep -q "| again: *selftests/run .* --link eth --long --tests 'slow'\$" "$tmp/run"
	run_as 1 '1 passed, 2 failed, 0 skipped' --kernels 7.2 \
		--tests bad_result
	rm "$tree/leaks"
	run_as 1 'run: what failed is no matter of luck' --failed
}

# A failed test prints how to run it alone, where its logs are, and the last
# messages of the adapter and of the kernel.
next_steps()
{
	run_as 1 '1 passed, 1 failed, 0 skipped' --kernels 7.2 \
		--tests bad_result
	grep -q "| alone: *make check TESTS=bad_result KERNELS=7.2\$" "$tmp/run"
	grep -q '| unsteady: selftests/run --flaky 20 bad_result ' "$tmp/run"
	grep -q '| logs: .*build/check/7.2/results.ktap build/.*log$' "$tmp/run"
	grep -q '| .*simhca: command 8 hca 0 QUERY_QP status 0$' "$tmp/run"
	grep -q '| .*simhca: failed command 7 hca 0 CREATE_QP status 3$' \
		"$tmp/run"
	grep -q '| .*simhca: error hca .* torn: 2$' "$tmp/run"
	! grep -q 'bad_wqe' "$tmp/run" || fail 'errors that did not happen'
	grep -q '| .*kernel: .*bad_result' "$tmp/run"
	a_test bad_long 'guest, long: yes' 'echo 1..1; echo not ok 1 a; exit 1'
	chmod +x "$tree/selftests/bad_long_test.sh"
	run_as 1 '0 passed, 1 failed, 0 skipped' --kernels 7.2 --long --tests bad_long
	rm "$tree/selftests/bad_long_test.sh"
	grep -q '| alone: *make check-long TESTS=bad_long KERNELS=7.2$' "$tmp/run"
	grep -q '| unsteady: selftests/run --flaky 20 bad_long .*--long$' "$tmp/run"
}

# most_cpus: how many CPUs the guests of the last run had at once
most_cpus()
{
	awk '{ cpus += $1 == "begin" ? $2 : -$2; if (cpus > most) most = cpus }
		END { print most }' "$tree/trace"
}

# On two cores two guests of two CPUs never run at once; on more cores they may.
cpus_kept()
{
	export MLX5_EP_CPUS=2
	rm -f "$tree/trace"
	run_as 0 '10 passed, 0 failed, 2 skipped' --kernels '6.1 7.2' \
		--tests 'two_cpus two_more good*'
	[ "$(most_cpus)" = 2 ] || fail "$(cat "$tree/trace")"
	MLX5_EP_CPUS=4
	rm -f "$tree/trace"
	run_as 0 '4 passed, 0 failed, 0 skipped' --kernels '6.1 7.2' \
		--tests 'two_cpus two_more'
	[ "$(most_cpus)" = 4 ] || fail "$(cat "$tree/trace")"
	unset MLX5_EP_CPUS
}

# The durations of earlier runs decide, and the limit of a test without any.
longest_first()
{
	export MLX5_EP_CPUS=1
	rm -f "$tree/trace" "$tree/build/check.history.json"
	run_as 0 '2 passed, 0 failed, 0 skipped' --kernels 7.2 \
		--tests 'alone longer'
	[ "$(sed -n 's/^begin.* \([a-z]*\):.*/\1/p' "$tree/trace" |
		paste -sd' ')" = 'longer alone' ] || fail "$(cat "$tree/trace")"
	printf '{\n  "7.2/alone": {"runs": 1, "failures": 0, "seconds": [2, 950, 90]}\n}\n' \
		>"$tree/build/check.history.json"
	rm -f "$tree/trace"
	run_as 0 '2 passed, 0 failed, 0 skipped' --kernels 7.2 \
		--tests 'alone longer'
	[ "$(sed -n 's/^begin.* \([a-z]*\):.*/\1/p' "$tree/trace" |
		paste -sd' ')" = 'alone longer' ] || fail "$(cat "$tree/trace")"
	unset MLX5_EP_CPUS
}

# A guest that would be the last to run is split if a CPU would be idle.
split_where_idle()
{
	printf '{\n  "7.2/good": {"runs": 1, "failures": 0, "seconds": [100]},\n  "7.2/good_too": {"runs": 1, "failures": 0, "seconds": [100]}\n}\n' \
		>"$tree/build/check.history.json"
	MLX5_EP_CPUS=2 run_as 0 '3 passed, 0 failed, 1 skipped' --kernels 7.2 \
		--tests 'good good_too'
	boots 2
	MLX5_EP_CPUS=1 run_as 0 '3 passed, 0 failed, 1 skipped' --kernels 7.2 \
		--tests 'good good_too'
	boots 1
}

# Tests of one area may write the same files, so no part of them runs beside another.
area_is_whole()
{
	local name

	for name in area_one area_two; do
		a_test $name host 'echo 1..1; mkdir busy && sleep 1 && rmdir busy || exit
			echo ok 1 a'
		chmod +x "$tree/selftests/${name}_test.sh"
	done
	printf '{\n  "host/area_one": {"runs": 1, "failures": 0, "seconds": [100]},\n  "host/area_two": {"runs": 1, "failures": 0, "seconds": [100]}\n}\n' \
		>"$tree/build/check.history.json"
	MLX5_EP_CPUS=2 run_as 0 '2 passed, 0 failed, 0 skipped' --tests 'area_*'
	rm "$tree"/selftests/area_*_test.sh
}

# The history has runs, failures and durations of each test, in JSON.
history_kept()
{
	local file=$tree/build/check.history.json

	rm -f "$file"
	for _ in {1..12}; do
		run_as 0 '1 passed, 0 failed, 0 skipped' --tests on_host
	done
	run_as 1 '1 passed, 1 failed, 0 skipped' --kernels 7.2 \
		--tests bad_result
	[ "$(jq -c '[."host/on_host" | .runs, .failures, (.seconds | length)],
		[."7.2/bad_result" | .runs, .failures, (.seconds | length)]' \
		"$file" | paste -sd' ')" = '[12,0,10] [1,1,1]' ] ||
		fail "$(cat "$file")"
	a_test needy 'guest, config: KSM' 'echo 1..1; echo ok 1 a'
	chmod +x "$tree/selftests/needy_test.sh"
	run_as 0 '1 passed, 0 failed, 1 skipped' --kernels "/boot/vmlinuz-9.9" \
		--tests 'needy good_too'
	rm "$tree/selftests/needy_test.sh"
	run_as 0 '1 passed, 0 failed, 0 skipped' --kernels 7.2 --tests good_too
	run_as 0 '1 passed, 0 failed, 0 skipped' --kernels 7.2 --link eth \
		--tests good_too
	[ "$(jq -c '[."9.9-abc/needy", (."7.2/good_too", ."7.2+eth/good_too" | .runs)]' \
		"$file")" = '[null,1,1]' ] || fail "$(cat "$file")"
}

flaky_test()
{
	local tries=$tmp/tries

	rm -f "$tries"
	a_test unsteady guest "echo 1..1; echo >>$tries
[ \$((\$(wc -l <$tries) % 3)) -eq 0 ] && echo not ok 1 a && exit 1; echo ok 1 a"
	chmod +x "$tree/selftests/unsteady_test.sh"
	MLX5_EP_CPUS=1 run_as 1 '5 passed, 2 failed, 0 skipped' \
		--kernels 7.2 --flaky 7 unsteady
	boots 1
	grep -qx 'flaky: 7.2: 2 of 7 failed' "$tmp/run"
	[ "$(jq -c '."7.2/unsteady" | [.runs, .failures]' \
		"$tree/build/check.history.json")" = '[7,2]' ] ||
		fail "$(cat "$tree/build/check.history.json")"
}

# A test that is repeated needs no kernel that make check does not have, and one that takes
# long can be repeated, too. It is said, also after one time, how often it ran.
flaky_kernels()
{
	run_as 0 '4 passed, 0 failed, 0 skipped' --flaky 2 slow
	must_fail grep -E '^(built|programs)' "$tree/boots"
	grep -qx 'flaky: 6.12: 0 of 2 failed' "$tmp/run"
	run_as 1 '0 passed, 1 failed, 0 skipped' --kernels 7.2 --flaky 1 bad_silent
	grep -qx 'flaky: 7.2: 1 of 1 failed' "$tmp/run"
	run_as 1 'run: no test matches: for_debug' --flaky 2 for_debug
	grep -qx "run: for_debug is for --kernels 'debug'" "$tmp/run"
	run_as 0 '2 passed, 0 failed, 0 skipped' --kernels debug --flaky 2 for_debug
	grep -qx 'flaky: debug: 0 of 2 failed' "$tmp/run"
}

# What was skipped has not passed.
flaky_skips()
{
	rm -f "$tmp/full"
	run_as 0 '0 passed, 0 failed, 3 skipped' --kernels 7.2 --flaky 3 skipped
	grep -qx 'flaky: 7.2: it did not run' "$tmp/run"
	a_test moody guest "[ ! -e $tmp/full ] || { echo '1..0 # SKIP full'; exit 4; }
touch $tmp/full; echo 1..1; echo ok 1 a"
	a_test merges 'guest, config: KSM' 'echo 1..1; echo ok 1 a'
	chmod +x "$tree"/selftests/{moody,merges}_test.sh
	run_as 0 '1 passed, 0 failed, 2 skipped' --kernels 7.2 --flaky 3 moody
	grep -qx 'flaky: 7.2: 0 of 1 failed, 2 skipped' "$tmp/run"
	run_as 0 '0 passed, 0 failed, 1 skipped' --kernels ./a/tree --flaky 3 merges
	grep -qx 'flaky: 9.9-abc: it did not run' "$tmp/run"
	rm "$tree"/selftests/{moody,merges}_test.sh
}

# A value that is not a number is not accepted as a benchmark's figure.
no_figure()
{
	local values

	for values in '' '1 2 x' '1 -'; do
		# shellcheck disable=SC1091,SC2086 # a list
		! (. selftests/bench/lib.sh &&
			bench_at_most name ns 5 $values) >"$tmp/out" ||
			fail "$values: $(cat "$tmp/out")"
		[ ! -s "$tmp/out" ] || fail "$values: $(cat "$tmp/out")"
	done
	(. selftests/bench/lib.sh && bench_at_most name ns 5 7 1e-2 -3.5 |
		grep -qx 'bench: name value=0.01 unit=ns target=5 ok .*')
}

no_guest()
{
	printf '#!/bin/sh\necho no power >&2\nexit 7\n' >"$tree/lab/vm"
	run_as 1 '0 passed, 3 failed, 0 skipped' --kernels 7.2 --tests 'good*'
	grep -q 'no power' "$tmp/run"
	grep -q "| again: *selftests/run --kernels 7.2 --tests 'good good_too'\$" "$tmp/run"
}

ktap_kept()
{
	run_as 0 '3 passed, 0 failed, 1 skipped' --kernels 7.2 --tests 'good*'
	grep -qx '  ok 2 b # SKIP no cheese' \
		"$tree/build/check/7.2/results.ktap"
	grep -qx '  # chatter' "$tree/build/check/7.2/results.ktap"
}

# The commands that users start: each answers --help, and refuses unknown
# options.
usages()
{
	local command status

	for command in selftests/{run,demo,bench/run,peers/run} \
		simhca/peers/run lab/{vm,enter,setup,build-module,debug-kernel}; do
		"$command" --help >"$tmp/out" 2>"$tmp/err" ||
			fail "$command --help: $?"
		head -n 1 "$tmp/out" | grep -q "^usage: $command " ||
			fail "$command --help: $(cat "$tmp/out")"
		[ ! -s "$tmp/err" ] || fail "$command --help: $(cat "$tmp/err")"
		status=0
		"$command" --no-option >"$tmp/out" 2>&1 || status=$?
		[ "$status" -eq 2 ] && grep -q '^usage: ' "$tmp/out" ||
			fail "$command --no-option: $status, $(cat "$tmp/out")"
	done
}

first_failure()
{
	run_as 1 '0 passed, 1 failed, 0 skipped' --kernels 7.2 --first-failure \
		--tests 'bad_silent bad_status'
	boots 1
	run_as 1 '0 passed, 1 failed, 0 skipped' --kernels 7.2 --first-failure \
		--tests 'bad_lost worse_after_bad'
	boots 1
}

# What runs when the time is over ends; what comes after it does not begin, neither
# in its guest nor in another, and those left out have no duration.
within()
{
	rm -f "$tree/build/check.history.json"
	MLX5_EP_JOBS=1 \
		run_as 0 '1 passed, 0 failed, 2 skipped' --kernels 7.2 --within 1 \
		--tests 'early_nap later alone'
	boots 1
	grep -q '^left out: 2 tests, as the time of the run was over' "$tmp/run"
	grep -q 'skipped (the time of the run was over)' "$tmp/run"
	must_fail grep 'later.*[0-9]\]' "$tree/build/check.history.json"
	run_as 1 '0 passed, 0 failed, 3 skipped' --kernels 7.2 --within 0 \
		--tests 'early_nap later alone' && [ ! -e "$tree/boots" ]
	run_as 0 '3 passed, 0 failed, 0 skipped' --kernels 7.2 --within 100 \
		--tests 'early_nap later alone'
	! "$tree/selftests/run" --within soon 2>"$tmp/run" || fail 'soon is a number'
}

plan 49
check 'results of guests and host are added up' passes
check 'guest tests run once per kernel' per_kernel
check 'the link is chosen for tests that leave it open' links
check 'tests can run in another environment' elsewhere
check 'long runs have all their parts' long_parts
check 'what make is told becomes options' made
check 'a test can have a guest to itself' own_guest
check 'a skipped test says why' skip_reason
check 'a test can name its kernels' kernels_named
check 'a kernel can be named by its path' by_path
check 'long tests run when asked for, and their progress is shown' long_ones
check 'what failed can be run once more' failed_ones
check 'nothing else is run once more' failed_alone
check 'the debug kernel is built first, and its tests get more time' debug_lane
check 'the kernel gcov has the tests of newest and debug' gcov_lane
check 'make check runs core tests, on the newest kernel and a few on the oldest' core
check 'tests of a kernel can be left out' without
check 'races are looked for in long runs, where there are two CPUs' kcsan_lane
check 'kernels of another architecture run the tests of their lists' arm_lane
check 'a failed result fails' fails result '1 passed, 1 failed, 0 skipped' ''
check 'a failed result with exit status 0 fails' \
	fails lie '0 passed, 1 failed, 0 skipped' 'exit status 0'
check 'an exit status fails' \
	fails status '1 passed, 1 failed, 0 skipped' 'exit status 3'
check 'a skip of a test that failed fails' \
	fails skip '0 passed, 1 failed, 0 skipped' 'says that it skips'
check 'a missing result fails' \
	fails short '1 passed, 1 failed, 0 skipped' '1 results of 3'
check 'silence fails' fails silent '0 passed, 1 failed, 0 skipped' 'no plan'
check 'the time limit fails' \
	fails slow '1 passed, 1 failed, 0 skipped' 'time limit'
check 'a kernel report fails' \
	fails klog '1 passed, 1 failed, 0 skipped' 'kernel report'
check 'a process that is left behind fails' \
	fails stray '1 passed, 1 failed, 0 skipped' 'left .*sleep'
check 'a process that keeps the output open fails' \
	fails mute_stray '1 passed, 1 failed, 0 skipped' 'left .*sleep'
check 'so does one of another session' \
	fails daemon '1 passed, 1 failed, 0 skipped' 'another session'
check 'one that ends soon after the test is waited for' \
	run_as 0 '1 passed, 0 failed, 0 skipped' --kernels 7.2 --tests brief_daemon
check 'a lost guest fails' fails lost '0 passed, 1 failed, 0 skipped' 'lost'
check 'what is left goes on in a fresh guest' goes_on
check 'the first failure can end the run' first_failure
check 'no test begins when the time is over' within
check 'a guest that fails by itself fails the run' guest_fails
check 'the KTAP of every test is kept' ktap_kept
check 'a failed test says what to do next' next_steps
check 'guests together have no more CPUs than the machine' cpus_kept
check 'the longest guest starts first' longest_first
check 'a guest that would run on alone is split' split_where_idle
check 'tests of an area on the host run one after the other' area_is_whole
check 'runs, failures and durations are kept' history_kept
check 'an unsteady test can be repeated' flaky_test
check 'a test is repeated on the kernels of a short run' flaky_kernels
check 'a test that is skipped each time did not run' flaky_skips
check 'a benchmark without a figure fails' no_figure
check 'a guest that does not boot fails what it had to run' no_guest
check 'commands say how they are used' usages
ktap_finished
