# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Kernels that are not the lab's: their names, and which tests they cannot run.

# kernels_named FOLDER HEADERS K...: prints the kernels, each path of one (seen from
# the folder) replaced by the name that lab/kernel gives it. Headers for none of
# them are an error.
kernels_named()
{
	local top=$PWD from=$1 kernel name by_path=false
	local -a option=()

	[ -z "$2" ] || option=(--headers "$2")
	shift 2
	for kernel; do
		case $kernel in
		*/* | . | .. | *.deb | *.rpm)
			name=$(cd "$from" && "$top/lab/kernel" \
				"${option[@]}" "$kernel") || return
			by_path=true
			;;
		*) name=$kernel ;;
		esac
		printf '%s ' "$name"
	done
	[ ${#option[@]} = 0 ] || $by_path || {
		echo 'run: --headers goes with a kernel that is named by a path' >&2
		return 2
	}
}

# in_arch_list KERNEL TEST: whether a kernel runs a test that the user has not named. Those
# of other architectures run the tests of a list only.
in_arch_list()
{
	[ -z "$(arch_of "$1")" ] || grep -qx -- "$2" "selftests/runner/$1"
}

# all_of_other_arch: whether each kernel of the run is of another architecture
# shellcheck disable=SC2154 # run sets kernels
all_of_other_arch()
{
	local kernel

	for kernel in $kernels; do
		[ -n "$(arch_of "$kernel")" ] || return 1
	done
}

# cannot_run KERNEL MODULE CONFIG...: prints why a kernel that is none of the lab's root
# cannot run a test that uses these, and nothing if it can
cannot_run()
{
	local dir=build/lab/kernels/$1 module=$2 option lacks=''

	[ -d "$dir" ] || [ -n "$(arch_of "$1")" ] || return 0
	shift 2
	if [ "$module" = dkms ]; then
		echo "DKMS is run for the lab's own kernels"
		return
	fi
	[ -d "$dir" ] || return 0
	if [[ $module = @(no|later) ]] && grep -qsx builtin "$dir/own"; then
		echo "the kernel has mlx5_ep built in"
		return
	fi
	for option; do
		! grep -qx "CONFIG_$option" "$dir/lacks" ||
			lacks+=" CONFIG_$option"
	done
	[ -z "$lacks" ] || echo "the kernel has no${lacks}"
}

# skip_test KERNEL NAME REASON: the result of a test that is not started
# shellcheck disable=SC2154 # run sets out
skip_test()
{
	mkdir -p "$out/$1"
	echo "ok 1 $2 # SKIP $3 # time=0.0" >>"$out/$1/skipped.ktap"
	show "$1" "$2" ok "$(counts_text 0 0 1) ($3)" 0.0
	record "$1" "$2" ok 0 0 1 0
}
