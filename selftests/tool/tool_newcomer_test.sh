#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: core
#
# What the tool says to somebody who calls it wrongly, or on a machine where
# something is missing: what is true, and what to do. The machine is a made-up tree.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

tool=$PWD/build/bin/mlx5ep
# shellcheck source=selftests/tool/fake.sh
. selftests/tool/fake.sh

release=6.12.1-amd64

# says CODE TEXT ARGUMENT...: mlx5ep ends with CODE, and TEXT is a line of its errors
says()
{
	code "$1" "$tool" "${@:3}" >/dev/null
	grep -qxF "$2" "$tmp/err" || fail "mlx5ep ${*:3}: $(cat "$tmp/err")"
}

wrong_options()
{
	local command

	fresh
	for command in show set apply plan attach run metrics selftest bench
	do
		says 2 "mlx5ep $command: unrecognized option '--nonsense'" \
			$command --nonsense
		grep -qx "mlx5ep $command: see mlx5ep $command --help" "$tmp/err"
	done
	says 2 'mlx5ep doctor: --nonsense: unexpected; see mlx5ep doctor --help' \
		doctor --nonsense
	says 2 "mlx5ep: unrecognized option '--nonsense'" --nonsense
	says 2 'mlx5ep: see mlx5ep --help' --nonsense
	says 2 'mlx5ep show: -d stands before the command: mlx5ep -d DEVICE show; see mlx5ep show --help' \
		show -d mlx5_0
	says 2 'mlx5ep plan: --json stands before the command: mlx5ep --json plan; see mlx5ep plan --help' \
		plan -t 1 --json
	says 2 'mlx5ep plan: --threads 0: a number from 1 to 4096; see mlx5ep plan --help' \
		plan -t 0
	says 2 'mlx5ep plan: --bar 3X: a number, with K, M or G; see mlx5ep plan --help' \
		plan -t 1 --bar 3X
	says 2 'mlx5ep plan: --category x: not one of mpi-everywhere, 2xdynamic, dynamic, shared-dynamic, static, mpi-threads; see mlx5ep plan --help' \
		plan -t 1 -c x
}

# What cannot be done is said with what to do.
says_remedy()
{
	local none='no such file or folder: make its folder, or name another'
	local aux=$root/sys/bus/auxiliary/drivers/mlx5_ib.rdma

	fresh
	fake mlx5_0 0000:01:00.0
	mkdir -p "$root/etc"
	printf '[device *]\npolicy = independent\n' >"$root/etc/mlx5ep.conf"
	says 3 'mlx5ep: the module is not loaded: modprobe mlx5_ep' apply
	says 1 "mlx5ep: --output $tmp/none/x: $none" metrics --output "$tmp/none/x"
	says 1 "mlx5ep: --output /dev/full/x: a part of the path is no folder: name another" \
		metrics --output /dev/full/x
	says 1 "mlx5ep: $tmp/none does not exist: mlx5ep set --save makes it" \
		check "$tmp/none"
	says 1 "mlx5ep: $tmp/none/none does not exist: mlx5ep set --save makes it" \
		check "$tmp/none/none"
	fake mlx5_0 0000:01:00.0 attached
	rm "$root/sys/class/infiniband/mlx5_0/mlx5_ep/uar_user_limit"
	says 1 'mlx5ep: mlx5_0: this module has no uar_user_limit: it is older than the tool, see mlx5ep doctor' \
		set --user-limit 4
	fresh
	fake mlx5_0 0000:01:00.0
	mkdir -p "$root/sys/module/mlx5_ep" "$aux"
	says 1 "mlx5ep: mlx5_core.rdma.0: unbind: $none" attach mlx5_0
	says_remedy_to_user
}

# says_remedy_to_user: the same, to who is not root
says_remedy_to_user()
{
	local user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	local aux=$root/sys/bus/auxiliary/drivers/mlx5_ib.rdma
	local root_says='permission denied: run it as root'

	"${user[@]}" true 2>/dev/null || return 0	# the namespace has no such user
	chmod 755 "$tmp"
	: >"$aux/unbind"
	echo 'user_says' >"$tmp/conf"
	chmod 600 "$tmp/conf"
	code 5 "${user[@]}" "$tool" attach mlx5_0 >/dev/null
	grep -qxF "mlx5ep: mlx5_core.rdma.0: unbind: $root_says" "$tmp/err"
	code 5 "${user[@]}" "$tool" check "$tmp/conf" >/dev/null
	grep -qxF "mlx5ep: $tmp/conf: $root_says" "$tmp/err"
	code 5 "${user[@]}" "$tool" metrics --output "$tmp/x" >/dev/null
	grep -qxF "mlx5ep: --output $tmp/x: $root_says" "$tmp/err"
	fake mlx5_0 0000:01:00.0 attached
	code 5 "${user[@]}" "$tool" set --policy independent >/dev/null
	grep -qxF 'mlx5ep: mlx5_0: uuar_policy: permission denied: only root may set it; a user has mlx5ep run --policy' \
		"$tmp/err"
}

# options COMMAND: its options as mlx5ep COMMAND --help has them, a line each: the short
# one or "-", the long one, and its value if it takes one
options()
{
	code 0 "$tool" "$1" --help >/dev/null
	sed -nE "s/^  (-(.), )?--([a-z-]+)( ([^ ]+))?(  .*|$)/\2 \3 \5/p" "$tmp/out" |
		sed 's/^ /- /'
}

# refuses OPTION COMMAND ARGUMENT...: wrong usage, and the message names command and
# option; what it says of the option is not that there is no such one
refuses()
{
	code 2 "$tool" "${@:2}" >/dev/null
	grep -q "^mlx5ep $2: .*$1" "$tmp/err" ||
		fail "mlx5ep ${*:2}: $(cat "$tmp/err")"
	grep -q "see mlx5ep $2 --help\$" "$tmp/err" || fail "mlx5ep ${*:2}: no hint"
	! grep -q "unrecognized option '$1'" "$tmp/err" ||
		fail "mlx5ep ${*:2}: $(cat "$tmp/err")"
}

# manual COMMAND: what mlx5ep.8 says of the command
manual()
{
	awk -v c="$1" '/^\.S[SH] / {
		in_it = $1 == ".SS" && $2 ~ "^(" c ")$" } in_it' \
		userlib/man/mlx5ep.8
}

# Each option that a help names is known to the command, the manual and the shell.
each_option()
{
	local command short long value n=0

	fresh
	fake mlx5_0 0000:01:00.0 attached
	code 0 "$tool" --help
	sed -n '/^Commands/,/^Options/s/^  \([a-z]*\) .*/\1/p' "$tmp/out" \
		>"$tmp/commands"
	while read -r command; do
		options "$command" >"$tmp/options"
		while read -r short long value; do
			n=$((n + 1))
			[ "$short" = - ] && short=--$long || short=-$short
			grep -q "\\\\-\\\\-${long//-/.*}" userlib/man/mlx5ep.8 ||
				fail "mlx5ep.8 has no --$long"
			[ "$short" = "--$long" ] || manual "$command" |
				grep -Eq "^\.(BR|RB) .*\\\\$short([ ,]|\$)" ||
				fail "mlx5ep.8 has no $short of $command"
			grep -qw -- "--$long" userlib/cli/mlx5ep.bash ||
				fail "mlx5ep.bash has no --$long"
			if [ -z "$value" ]; then
				says 2 "mlx5ep $command: unrecognized option '--nonsense'" \
					"$command" "--$long" --nonsense
				continue
			fi
			refuses "--$long" "$command" "--$long"
			case $value in
			WHAT | *FILE* | DIR | *PATH* | \'NAME*) ;;
			*) refuses "\(--$long\|$short\)\>" "$command" "--$long" @ ;;
			esac
		done <"$tmp/options"
		# The help is asked for behind other words, too; behind the program
		# that run starts it is the program's.
		[ "$command" != run ] || continue
		code 0 "$tool" "$command" x --help
		grep -q "^Usage: mlx5ep \[-j\] \[-d DEVICE\] $command " "$tmp/out"
	done <"$tmp/commands"
	echo "$n options of $(wc -l <"$tmp/commands") commands"
	[ "$n" -gt 30 ]
}

# The arguments of a program are its own, with -- in front of it and without.
run_passes_on()
{
	local before option

	fresh
	fake mlx5_0 0000:01:00.0 attached
	for before in '' '--' '--policy stock' '--policy=stock --' '-p stock -n 3'; do
		for option in -h --help; do
			# shellcheck disable=SC2086 # words
			code 0 "$tool" run $before echo $option -j >/dev/null
			[ "$(cat "$tmp/out")" = "$option -j" ] ||
				fail "run $before: $(cat "$tmp/out")"
		done
	done
	for option in -h --help '--strict -h' '-p stock --help'; do
		# shellcheck disable=SC2086
		code 0 "$tool" run $option echo >/dev/null
		grep -q '^Usage: mlx5ep .* run ' "$tmp/out"
	done
	code 2 "$tool" run --policy -h echo
	# As a shell, and env(1), say it.
	says 127 'mlx5ep: nosuch: No such file or directory' run nosuch
	says 126 'mlx5ep: /: Permission denied' run /
}

# The loader would take what stands before the blank, and say nothing of the policy.
run_says_blank()
{
	local there="$tmp/a folder"

	fresh
	fake mlx5_0 0000:01:00.0 attached
	mkdir -p "$there/bin"
	cp -r build/lib "$there/"
	cp "$tool" "$there/bin/"
	code 1 "$there/bin/mlx5ep" run --policy stock --strict -- echo started
	[ ! -s "$tmp/out" ]
	grep -q 'a folder/.*/policy.so cannot be preloaded: its path has a blank or a colon' \
		"$tmp/err"
	code 0 "$there/bin/mlx5ep" run --policy stock -- echo started
	grep -q 'cannot be preloaded' "$tmp/err"
}

# loads PROGRAM: whether its loader tries to preload what it is told to
loads()
{
	LD_PRELOAD=$tmp/no.so "$1" 2>&1 | grep -c 'no.so.*cannot be preloaded' || :
}

# not_loaded PROGRAM WORDS: the loader does not, and run says so with these words
not_loaded()
{
	[ "$(loads "$1")" = 0 ] || fail "$1 loads"
	code 1 "$tool" run --policy stock --strict -- "$1"
	[ ! -s "$tmp/out" ]
	grep -qxF "mlx5ep: $1 $2: give its cgroup or the device the policy, by mlx5ep set" \
		"$tmp/err"
	code 1 "$tool" run --strict -- "$1"
	grep -qxF "mlx5ep: $1 $2: UCX in it has its own hooks" "$tmp/err"
}

# The loader says nothing of a program into which it preloads nothing.
run_says_not_preloaded()
{
	local dir=$tmp/programs

	fresh
	fake mlx5_0 0000:01:00.0 attached
	mkdir "$dir"
	printf '#include <stdio.h>\nint main(void) { puts("started"); }\n' >"$dir/a.c"
	gcc -o "$dir/dynamic" "$dir/a.c"
	[ "$(loads "$dir/dynamic")" = 1 ]
	code 0 "$tool" run --policy stock --strict -- "$dir/dynamic"
	[ ! -s "$tmp/err" ]
	gcc -static -o "$dir/static" "$dir/a.c"
	not_loaded "$dir/static" 'is linked statically, so nothing can be preloaded'
	code 0 "$tool" run --policy stock "$dir/static"
	grep -qx started "$tmp/out"
	PATH=$dir:$PATH code 1 "$tool" run --policy stock --strict static
	printf '#! %s -x\n' "$dir/static" >"$dir/script"
	chmod +x "$dir/script"
	not_loaded "$dir/script" 'is linked statically, so nothing can be preloaded'
	# Text that ends before the line does, and is shorter than the name of its file
	printf '#!%s' "$dir/static" >"$dir/script-without-a-newline"
	chmod +x "$dir/script-without-a-newline"
	not_loaded "$dir/script-without-a-newline" \
		'is linked statically, so nothing can be preloaded'
	# What the header says of the machine: i386
	cp "$dir/dynamic" "$dir/other"
	printf '\1' | dd of="$dir/other" bs=1 seek=4 conv=notrunc status=none
	printf '\3' | dd of="$dir/other" bs=1 seek=18 conv=notrunc status=none
	not_loaded "$dir/other" \
		'is of another architecture than libmlx5ep, so it cannot be preloaded'
	more_rights "$dir/dynamic" "$dir/rights"
}

# more_rights PROGRAM COPY: makes a copy of the program that belongs to somebody else
more_rights()
{
	local words='runs with other rights than yours (setuid, setgid or capabilities), so nothing can be preloaded'

	cp "$1" "$2"
	chmod 4755 "$2"
	code 0 "$tool" run --policy stock --strict -- "$2"
	chown 65534 "$2" 2>/dev/null || return 0	# nobody else in this namespace
	chmod 4755 "$2"
	not_loaded "$2" "$words"
	chown 0:65534 "$2"
	chmod 2755 "$2"
	not_loaded "$2" "$words"
}

# completed WORD...: what bash offers for the last word
completed()
{
	bash -c '. userlib/cli/mlx5ep.bash
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_mlx5ep
		printf "%s\n" "${COMPREPLY[@]}"' - mlx5ep "$@" | paste -sd' '
}

offers()
{
	[ "$(completed "${@:2}")" = "$1" ] ||
		fail "mlx5ep ${*:2}: $(completed "${@:2}"), not $1"
}

# as_files WORD...: bash is to complete them as names of files
as_files()
{
	[ "$(bash -c '. userlib/cli/mlx5ep.bash
		compopt() { echo "$@"; }
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_mlx5ep' - mlx5ep "$@")" = '-o filenames' ] || fail "mlx5ep $*"
}

completes()
{
	as_files check /et
	as_files metrics --output /et
	as_files set --cgroup /sy
	as_files run cat /et
	mkdir "$tmp/path"
	: >"$tmp/path/zz\$(touch evaluated)"
	chmod +x "$tmp"/path/*
	offers 'on off' set --strict ''
	offers 'stock' set --policy st
	offers 'stock stock,independent,shared-uar,shared-uuar' bench -p st
	offers '' show --interval ''
	offers '' show --top ''
	offers 'qps' show --sort q
	offers 'none' set --limit ''
	offers 'contexts' -j show co
	offers '--policy' run --strict --po
	offers 'README.md' run --policy stock -- cat READ
	offers 'README.md' run cat READ
	offers '' run cat --po
	completed run -p stock -- env | grep -qw env
	(
		cd "$tmp"
		bash -c '. "$1"; PATH=$2 COMP_WORDS=(mlx5ep run zz) COMP_CWORD=2
			PATH=$2; _mlx5ep; printf "%s\n" "${COMPREPLY[@]}"' - \
			"$OLDPWD/userlib/cli/mlx5ep.bash" "$tmp/path" | grep -q zz
		[ ! -e evaluated ]
	)
}

# Words that a command does not take
each_surplus()
{
	local command

	fresh
	for command in show apply check attach metrics selftest bench plan set doctor
	do
		code 2 "$tool" $command one two three >/dev/null
		grep -q "^mlx5ep $command: .*; see mlx5ep $command --help\$" \
			"$tmp/err" || fail "$command: $(cat "$tmp/err")"
	done
	says 2 'mlx5ep run: a command is needed; see mlx5ep run --help' run
}

no_device()
{
	local command none='no mlx5 device is registered: modprobe mlx5_ib'

	fresh
	for command in show 'set --policy stock' selftest bench; do
		# shellcheck disable=SC2086 # words
		says 4 "mlx5ep: $none" $command
		# shellcheck disable=SC2086
		says 4 "mlx5ep: mlx5_7: $none" -d mlx5_7 $command
	done
	says 4 "mlx5ep: mlx5_7: $none" attach mlx5_7
	fake mlx5_0 0000:01:00.0 attached
	fake mlx5_1 0000:02:00.0
	for command in show 'set --policy stock' selftest bench; do
		# shellcheck disable=SC2086
		says 4 'mlx5ep: mlx5_7: no such mlx5 device, but mlx5_0, mlx5_1' \
			-d mlx5_7 $command
	done
	says 2 'mlx5ep selftest: name one of the devices mlx5_0, mlx5_1; see mlx5ep selftest --help' \
		selftest
	says 3 'mlx5ep: the module is not attached; see mlx5ep doctor' \
		-d mlx5_1 selftest
}

# doctor TEXT: a finding or a remedy of the module is TEXT
doctor()
{
	timeout 60 "$tool" doctor >"$tmp/out" 2>&1 || :
	grep -qxF "$1" "$tmp/out" || fail "$(grep -A 1 module: "$tmp/out"), not $1"
}

# machine: a kernel, a device, no module
machine()
{
	fresh
	fake mlx5_0 0000:01:00.0
	mkdir -p "$root/proc/sys/kernel" "$root/lib/modules/$release"
	echo $release >"$root/proc/sys/kernel/osrelease"
}

not_built()
{
	local log=var/lib/dkms/mlx5_ep/0.9.0/build/make.log

	machine
	doctor '    mend with: install mlx5-ep-dkms (RPM: mlx5_ep-dkms), or make install in the sources'
	mkdir -p "$root/usr/src/mlx5_ep-0.9.0"
	doctor 'problem: module: mlx5_ep is not built for this kernel, whose headers are missing'
	doctor "    mend with: apt install linux-headers-$release (RPM: kernel-devel-$release), then dkms autoinstall -k $release"
	mkdir "$root/lib/modules/$release/build"
	doctor "    mend with: dkms autoinstall -k $release"
	mkdir -p "$root/${log%/*}"
	echo 'DKMS make.log for mlx5_ep/0.9.0 for kernel 7.0.0-amd64 (x86_64)' \
		>"$root/$log"
	doctor "    mend with: dkms autoinstall -k $release"
	echo "DKMS make.log for mlx5_ep/0.9.0 for kernel $release (x86_64)" \
		>"$root/$log"
	doctor 'problem: module: DKMS could not build mlx5_ep for this kernel'
	doctor "    mend with: see $root/$log, and when the reason is gone: dkms autoinstall -k $release"
}

not_signed()
{
	local enforce=$root/sys/module/module/parameters/sig_enforce
	local what='mlx5_ep is installed and not loaded'
	local only=', and this kernel loads signed modules only'

	machine
	mkdir -p "$root/lib/modules/$release/updates/dkms" "${enforce%/*}" \
		"$root/sys/kernel/security"
	: >"$root/lib/modules/$release/updates/dkms/mlx5_ep.ko.xz"
	doctor "problem: module: $what"
	echo N >"$enforce"
	echo '[none] integrity confidentiality' >"$root/sys/kernel/security/lockdown"
	doctor "problem: module: $what"
	echo 'none [integrity] confidentiality' >"$root/sys/kernel/security/lockdown"
	doctor "problem: module: $what$only"
	rm "$root/sys/kernel/security/lockdown"
	echo Y >"$enforce"
	doctor "problem: module: $what$only"
	doctor '    mend with: sign it with a key that this machine trusts'
	mkdir -p "$root/var/lib/dkms"
	: >"$root/var/lib/dkms/mok.pub"
	doctor '    mend with: mokutil --import /var/lib/dkms/mok.pub, reboot, and choose "Enroll MOK" on the screen that comes up'
}

# The last refusal counts. Records of the kernel's log, as /dev/kmsg gives them.
refused()
{
	local built='ib_core is not the one that mlx5_ep was compiled for'
	local what='problem: module: mlx5_ep is installed, and the kernel has refused it'

	machine
	mkdir -p "$root/lib/modules/$release/updates/dkms" "$root/dev"
	: >"$root/lib/modules/$release/updates/dkms/mlx5_ep.ko.xz"
	echo '6,1,1,-;mlx5_ep: 0.9.0' >"$root/dev/kmsg"
	doctor 'problem: module: mlx5_ep is installed and not loaded'
	echo '4,2,9,-;mlx5_ep: disagrees about version of symbol ib_register_client' \
		>>"$root/dev/kmsg"
	doctor "$what: mlx5_ep: disagrees about version of symbol ib_register_client"
	printf '%s\n' "3,3,9,-;mlx5_ep: not loaded: $built" \
		'6,4,9,-;mlx5_core 0000:01:00.0: up' >>"$root/dev/kmsg"
	doctor "$what: mlx5_ep: not loaded: $built"
	grep "mend with: .*dkms build --force .* -k $release" "$tmp/out"
	# The kernel's log has no end: it is empty for now.
	rm "$root/dev/kmsg"
	mkfifo "$root/dev/kmsg"
	exec 7<>"$root/dev/kmsg"
	echo "3,3,9,-;mlx5_ep: not loaded: $built" >&7
	doctor "$what: mlx5_ep: not loaded: $built"
	exec 7>&-
}

another_runs()
{
	machine
	fake mlx5_1 0000:02:00.0 attached
	echo 0.9.0 >"$root/sys/module/mlx5_ep/version"
	doctor 'ok: module: mlx5_ep is loaded'
	mkdir -p "$root/usr/src/mlx5_ep-0.9.1" \
		"$root/lib/modules/$release/updates/dkms"
	: >"$root/lib/modules/$release/updates/dkms/mlx5_ep.ko"
	doctor 'warning: module: mlx5_ep is loaded: 0.9.1 is installed, and 0.9.0 runs until the next boot'
	echo 0.9.1 >"$root/sys/module/mlx5_ep/version"
	doctor 'ok: module: mlx5_ep is loaded'
}

# A package removes the old module before it builds the new one, make install afterwards.
loaded_not_built()
{
	local loaded='mlx5_ep is loaded until the next boot'
	local tree=$root/var/lib/dkms/mlx5_ep log=0.9.1/build/make.log

	machine
	fake mlx5_1 0000:02:00.0 attached
	echo 0.9.0 >"$root/sys/module/mlx5_ep/version"
	mkdir -p "$root/usr/src/mlx5_ep-0.9.1" "$tree/${log%/*}" \
		"$root/lib/modules/$release/build"
	doctor "problem: module: $loaded: mlx5_ep is not built for this kernel"
	echo "DKMS make.log for mlx5_ep/0.9.1 for kernel $release (x86_64)" \
		>"$tree/$log"
	doctor "problem: module: $loaded: DKMS could not build mlx5_ep for this kernel"
	doctor "    mend with: see $tree/$log, and when the reason is gone: dkms autoinstall -k $release"
	mkdir -p "$root/lib/modules/$release/updates/dkms"
	: >"$root/lib/modules/$release/updates/dkms/mlx5_ep.ko"
	ln -s "0.9.0/$release/x86_64" "$tree/kernel-$release-x86_64"
	doctor 'warning: module: mlx5_ep is loaded: DKMS could not build 0.9.1 for this kernel, and 0.9.0 stays'
	doctor "    mend with: see $tree/$log, and when the reason is gone: dkms install mlx5_ep/0.9.1 -k $release"
	rm "$tree/$log"
	doctor 'ok: module: mlx5_ep is loaded'
	echo 0.8.0 >"$root/sys/module/mlx5_ep/version"
	doctor 'warning: module: mlx5_ep is loaded: 0.9.0 is installed, and 0.8.0 runs until the next boot'
}

plan 14
check 'a wrong option is named, with the command that helps' wrong_options
check 'options of each command: help, manual, shell, and wrong values' each_option
check 'what cannot be done is said with what to do' says_remedy
check 'run gives a program all of its arguments' run_passes_on
check 'run says that a path with a blank cannot be preloaded' run_says_blank
check 'run says that nothing is preloaded into a program' run_says_not_preloaded
check 'completion offers what fits' completes
check 'words too many are named, with the command that helps' each_surplus
check 'a device that is not there, and those that are' no_device
check 'doctor: why the module is not built' not_built
check 'doctor: the kernel wants a signature' not_signed
check 'doctor: the kernel has refused the module' refused
check 'doctor: another version runs than is installed' another_runs
check 'doctor: it runs, and the build of the next one failed' loaded_not_built
ktap_finished
