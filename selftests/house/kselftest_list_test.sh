#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 240
#
# The form of kselftest, without a guest: what is installed, the list, and how
# run_kselftest.sh judges programs that pass, fail, skip, hang or are not there.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

install=selftests/kselftest/install
into=$tmp/installed

# Each test that runs in guests is in the list once, and in no other folder.
all_listed()
{
	local targets

	mapfile -t targets < <($install --targets)
	$install --link "$into" "${targets[@]}"
	find selftests -name '*_test.c' -print0 \
		-o -name '*_test.sh' -print0 | xargs -0 awk 'FNR <= 12 && /runs on: guest/ {
			n = split(FILENAME, part, "/")
			sub(/_test\..*/, "", part[n])
			print "mlx5_ep/" part[n - 1] ":" part[n]
		}' | sort -u >"$tmp/want"
	[ "$(wc -l <"$tmp/want")" -gt 100 ]
	grep -v '^mlx5_ep/vm:' "$into/kselftest-list.txt" | sort >"$tmp/have"
	diff "$tmp/want" "$tmp/have"
	sed -n 's,^mlx5_ep/vm:,mlx5_ep/,p' "$into/kselftest-list.txt" >"$tmp/have"
	printf '%s\n' "${targets[@]}" | grep -vx mlx5_ep/vm | diff - "$tmp/have"
	"$into/run_kselftest.sh" -l | cmp - "$into/kselftest-list.txt"
}

# The kernel's runner reads these files, too.
files_are_there()
{
	local folder

	tr : / <"$into/kselftest-list.txt" | (cd "$into" && xargs ls -L) |
		sort >"$tmp/have"
	tr : / <"$into/kselftest-list.txt" | sort | diff - "$tmp/have"
	[ -z "$(find "$into/mlx5_ep/" -mindepth 2 -type f ! -name settings \
		! -name config ! -perm -100)" ]
	for folder in "$into"/mlx5_ep/*/; do
		[ "$folder" != "$into/mlx5_ep/tree/" ] || continue
		grep -qxE 'timeout=[1-9][0-9]*' "$folder/settings"
		grep '^CONFIG_' "$folder/config" >"$tmp/config"
		[ -z "$(grep -vxFf selftests/config "$tmp/config")" ]
	done
	grep -qx CONFIG_MLX5_INFINIBAND=m "$into/mlx5_ep/xrc/config"
	grep -qx CONFIG_KSM=y "$into/mlx5_ep/watch/config"
	code 1 grep CONFIG_KSM "$into/mlx5_ep/xrc/config"
}

# machine_lacks TEST PATTERN: TEST is a skip with that reason, and no failure
machine_lacks()
{
	code 0 "$into/run_kselftest.sh" -t "$1"
	grep -qx '1\.\.1' "$tmp/out"
	grep -qE "^ok 1 selftests: ${1%:*}: ${1#*:} # SKIP $2" "$tmp/out"
	grep -qx '# Totals: pass:0 fail:0 xfail:0 xpass:0 skip:1 error:0' "$tmp/out"
}

# No machine with the lab has an adapter for these tests. The machine's own kernel has no
# folder of modules here.
skips()
{
	local without=$tmp/without

	machine_lacks mlx5_ep/uuar:uuar_query \
		'(this machine has no mlx5 device|no port to simhca)'
	mkdir "$tmp/machine"
	printf '#!/bin/sh\necho 9.9-of-this-machine\n' >"$tmp/machine/uname"
	chmod +x "$tmp/machine/uname"
	unset MLX5_EP_VM_KERNEL
	PATH=$tmp/machine:$PATH machine_lacks mlx5_ep/vm:uuar \
		'kernel: no such kernel: /usr/lib/modules/9.9-of-this-machine'
	MLX5_EP_VM_KERNEL=$tmp/no-kernel code 1 "$into/run_kselftest.sh" -t mlx5_ep/vm:uuar
	grep 'MLX5_EP_VM_KERNEL=.*/no-kernel: kernel: no such kernel: ' "$tmp/out"
	export MLX5_EP_VM_KERNEL=7.2 MLX5_EP_CACHE=$without
	mkdir "$without"
	machine_lacks mlx5_ep/vm:uuar 'the lab is not set up'
	export MLX5_EP_CACHE=$tmp/'a blank'
	machine_lacks mlx5_ep/vm:uuar 'vm: the lab takes no path with a blank.*a blank'
	unset MLX5_EP_CACHE XDG_CACHE_HOME HOME
	machine_lacks mlx5_ep/vm:uuar 'HOME is not set, below which the lab is'
}

# program NAME LINE...: a test of the collection c
program()
{
	printf '%s\n' '#!/bin/sh' "${@:2}" >"$tmp/form/c/$1"
	chmod 755 "$tmp/form/c/$1"
}

# form NAME...: a folder with these tests of the collection c
form()
{
	mkdir -p "$tmp/form/c"
	cp selftests/kselftest/run_kselftest.sh "$tmp/form"
	printf 'c:%s\n' "$@" >"$tmp/form/kselftest-list.txt"
	program good 'echo KTAP version 1' 'echo 1..1' 'echo ok 1 all' \
		'[ -x ./good ]'
	program bad 'echo not ok 1 all' 'exit 1'
	program odd 'exit 4'
	program none 'echo "1..0 # SKIP no adapter"' 'exit 4'
	program slow 'sleep 60'
	echo timeout=2 >"$tmp/form/c/settings"
}

# says LINE...: the last output has them, in this order
says()
{
	printf '%s\n' "$@" >"$tmp/want"
	grep -E '^(ok|not ok|1\.\.|# Totals)' "$tmp/out" | diff "$tmp/want" -
}

verdicts()
{
	form good none odd
	code 0 "$tmp/form/run_kselftest.sh"
	says 1..3 'ok 1 selftests: c: good' \
		'ok 2 selftests: c: none # SKIP no adapter' \
		'ok 3 selftests: c: odd # SKIP' \
		'# Totals: pass:1 fail:0 xfail:0 xpass:0 skip:2 error:0'
	[ "$(head -n 1 "$tmp/out")" = 'TAP version 13' ]
	grep -qx '# ok 1 all' "$tmp/out"
	form good bad slow gone
	code 1 "$tmp/form/run_kselftest.sh"
	says 1..4 'ok 1 selftests: c: good' \
		'not ok 2 selftests: c: bad # exit=1' \
		'not ok 3 selftests: c: slow # TIMEOUT 2 seconds' \
		'not ok 4 selftests: c: gone # exit=1' \
		'# Totals: pass:1 fail:3 xfail:0 xpass:0 skip:0 error:0'
}

choices()
{
	form good bad none
	code 0 "$tmp/form/run_kselftest.sh" -t c:good -t c:none
	grep -qx '1\.\.2' "$tmp/out"
	code 0 "$tmp/form/run_kselftest.sh" -c c -S c:bad
	grep -qx '1\.\.2' "$tmp/out"
	code 1 "$tmp/form/run_kselftest.sh" -c c
	code 0 "$tmp/form/run_kselftest.sh" -c c -f -p "$tmp/logs"
	grep -qx '# not ok 1 all' "$tmp/logs/bad"
	must_fail grep '^# not ok' "$tmp/out"
	code 0 "$tmp/form/run_kselftest.sh" -d
	[ "$(grep -c '^# would run c:' "$tmp/out")" = 3 ]
	code 1 "$tmp/form/run_kselftest.sh" -c d
	grep -q 'no such collection: d' "$tmp/err"
	code 1 "$tmp/form/run_kselftest.sh" -t c:gone
	code 2 "$tmp/form/run_kselftest.sh" --nonsense
	form slow
	code 1 "$tmp/form/run_kselftest.sh" -o 1
	grep -q 'TIMEOUT 1 seconds' "$tmp/out"
}

# The options of the kernel's script that take no argument there, or need none.
logs()
{
	local test=kselftest-$$

	form good bad $test
	program $test 'echo ok 1 all'
	code 1 "$tmp/form/run_kselftest.sh" -s
	says 1..3 'ok 1 selftests: c: good' 'not ok 2 selftests: c: bad # exit=1' \
		"ok 3 selftests: c: $test" \
		'# Totals: pass:2 fail:1 xfail:0 xpass:0 skip:0 error:0'
	must_fail grep -E '^# (timeout|(not )?ok)' "$tmp/out"
	grep -E '^# (not )?ok' "$tmp/form/output.log" >"$tmp/have"
	printf '# %s\n' 'ok 1 all' 'not ok 1 all' 'ok 1 all' | diff - "$tmp/have"
	# What follows is an option, and no folder.
	code 0 "$tmp/form/run_kselftest.sh" --per-test-log -t c:$test
	says 1..1 "ok 1 selftests: c: $test" \
		'# Totals: pass:1 fail:0 xfail:0 xpass:0 skip:0 error:0'
	grep -qx '# ok 1 all' /tmp/$test
	rm /tmp/$test
	code 1 "$tmp/form/run_kselftest.sh" -p "$tmp/form/run_kselftest.sh"
	grep -q "cannot write logs to $tmp/form/run_kselftest.sh" "$tmp/err"
	code 1 "$tmp/form/run_kselftest.sh" -t c
	grep -q 'no such test: c' "$tmp/err"
}

# A stand-in of ip(8) takes down what it is asked for.
namespaces()
{
	form good bad
	mkdir "$tmp/bin"
	cat >"$tmp/bin/ip" <<-'IP'
	#!/bin/sh
	echo "$*" >>"$0.asked"
	case $* in
	*' add '*) [ ! -e "$0.refuses" ] || { echo refused >&2; exit 1; } ;;
	*' exec '*) shift 3; exec "$@" ;;
	esac
	IP
	chmod 755 "$tmp/bin/ip"
	export PATH=$tmp/bin:$PATH
	code 1 "$tmp/form/run_kselftest.sh" --netns
	says 1..2 'ok 1 selftests: c: good' 'not ok 2 selftests: c: bad # exit=1' \
		'# Totals: pass:1 fail:1 xfail:0 xpass:0 skip:0 error:0'
	sed 's/kselftest-[0-9]*/NS/' "$tmp/bin/ip.asked" | diff - <(
		for test in '1 good' '2 bad'; do
			printf '%s\n' "netns add NS-${test% *}" \
				"-n NS-${test% *} link set lo up" \
				"netns exec NS-${test% *} ./${test#* }" \
				"netns del NS-${test% *}"
		done)
	touch "$tmp/bin/ip.refuses"
	code 1 "$tmp/form/run_kselftest.sh" -n -t c:good
	says 1..1 'not ok 1 selftests: c: good # Create NS failed' \
		'# Totals: pass:0 fail:1 xfail:0 xpass:0 skip:0 error:0'
}

# The limit of a test that hangs, on a machine that is slow, and as it is asked for.
slow_machine()
{
	form slow
	MLX5_EP_SLOWNESS=2 code 1 "$tmp/form/run_kselftest.sh"
	grep -qx '# timeout set to 4' "$tmp/out"
	grep -q '# TIMEOUT 4 seconds' "$tmp/out"
	MLX5_EP_SLOWNESS=2 code 1 "$tmp/form/run_kselftest.sh" -o 1
	grep -qx '# overriding timeout to 1' "$tmp/out"
	grep -q '# TIMEOUT 1 seconds' "$tmp/out"
	mkdir -p "$tmp/form/mlx5_ep/tree/selftests/lib"
	cp selftests/lib/slowness.sh "$tmp/form/mlx5_ep/tree/selftests/lib/"
	MLX5_EP_KERNEL=kcsan code 1 "$tmp/form/run_kselftest.sh"
	grep -q '# TIMEOUT 12 seconds' "$tmp/out"
	rm -r "$tmp/form/mlx5_ep"
}

refusals()
{
	code 1 $install "$tmp/other" mlx5_ep/xrc mlx5_ep/none
	[ "$(wc -l <"$tmp/err")" = 1 ]
	grep -q 'no target mlx5_ep/none, there are: .*mlx5_ep/uuar' "$tmp/err"
	[ ! -e "$tmp/other" ]
	code 2 $install "$tmp/other"
	code 2 make -C selftests install
	grep -q 'set INSTALL_PATH' "$tmp/err"
}

# The folder is below the checkout, whose copy must not have the copy; its name has a
# blank.
packed()
{
	local below=build/selftests/"packed $$"

	make -o all -C selftests gen_tar "INSTALL_PATH=$PWD/$below" FORMAT= \
		TARGETS=mlx5_ep/xrc >"$tmp/out" 2>&1 || {
		rm -rf "$below"
		fail "$(cat "$tmp/out")"
	}
	mv "$below" "$tmp/packed"
	tar -tf "$tmp/packed/kselftest-packages/kselftest.tar" >"$tmp/have"
	rm -r "$tmp/packed"
	grep -qx ./mlx5_ep/xrc/xrc_values "$tmp/have"
	grep -qx ./mlx5_ep/tree/selftests/kselftest/one "$tmp/have"
	must_fail grep -E 'packed|kselftest-packages' "$tmp/have"
}

# Of a checkout with the modules of two kernels one is being built.
being_built()
{
	local from=$tmp/checkout

	mkdir -p "$from"/build/{bin,lib,selftests,lab,modules/{built,begun}}
	cp -r Kbuild Makefile VERSION dkms.conf examples kernel lab packaging selftests \
		simhca uapi userlib workloads "$from"
	touch "$from"/build/selftests/ktap_helpers.sh \
		"$from"/build/modules/{built,begun}/mlx5_ep.ko \
		"$from"/build/lab/modules-{built,begun}.stamp
	(
		exec 8>"$from/build/lab/module-begun.lock"
		flock 8
		code 0 "$from/$install" "$tmp/one" mlx5_ep/xrc
	)
	[ -e "$tmp/one/mlx5_ep/tree/build/modules/built/mlx5_ep.ko" ]
	[ -e "$tmp/one/mlx5_ep/tree/build/lab/modules-built.stamp" ]
	[ ! -e "$tmp/one/mlx5_ep/tree/build/modules/begun" ]
	[ ! -e "$tmp/one/mlx5_ep/tree/build/lab/modules-begun.stamp" ]
	code 0 "$from/$install" "$tmp/one" mlx5_ep/xrc
	[ -e "$tmp/one/mlx5_ep/tree/build/modules/begun/mlx5_ep.ko" ]
}

# What is removed before must be an installation.
others_stay()
{
	mkdir -p "$tmp/src/mlx5_ep"
	echo mine >"$tmp/src/mlx5_ep/notes"
	code 1 $install "$tmp/src" mlx5_ep/xrc
	grep -qx "install: $tmp/src/mlx5_ep is there and was not installed: .*" "$tmp/err"
	[ "$(cat "$tmp/src/mlx5_ep/notes")" = mine ]
	[ "$(ls "$tmp/src")" = mlx5_ep ]
	code 0 $install --link "$tmp/twice" mlx5_ep/xrc
	code 0 $install --link "$tmp/twice" mlx5_ep/uuar
	[ "$(cut -d: -f1 "$tmp/twice/kselftest-list.txt" | sort -u)" = mlx5_ep/uuar ]
}

# The runner finds tests by their names in these folders. A relative path begins at
# selftests/, as make does.
not_among_tests()
{
	local folder

	for folder in selftests/sub/installed userlib/installed selftests; do
		code 1 $install "$folder" mlx5_ep/xrc
		grep -qx "install: $PWD/$folder is below ${folder%%/*}/, where the runner .*" \
			"$tmp/err"
	done
	code 2 make -o all -C selftests install INSTALL_PATH=installed TARGETS=mlx5_ep/xrc
	grep -q "^install: $PWD/selftests/installed is below selftests/" "$tmp/err"
	[ ! -e selftests/installed ]
	[ ! -e selftests/mlx5_ep ]
}

plan 13
check 'each test of a kernel is in the list' all_listed
check 'what the list names can be started, with settings and config' files_are_there
check 'what this machine lacks is a skip with its reason' skips
check 'a failure, a hang and a missing program fail the run' verdicts
check 'tests and collections can be chosen' choices
check 'logs can be apart, as in the kernel' logs
check 'each test can have a network namespace' namespaces
check 'on a slow machine a test may take longer' slow_machine
check 'a target that does not exist is refused' refusals
check 'a module that is being built is left out' being_built
check 'the installation can be below the checkout, and be packed' packed
check 'a folder that was not installed stays' others_stay
check 'nothing is installed where the runner looks for tests' not_among_tests
ktap_finished
