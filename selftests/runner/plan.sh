# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # the variables of run and this file
#
# The plan of a run: which tests share a guest, and which guest starts next.
#
# Tests with the same needs share one guest, because a boot costs more than most
# tests. Such a guest, or a part of the host tests, is a job. A job takes as many
# CPUs of this machine as its guest has. Two guests of two CPUs on two cores wait
# for each other's locks and take five times as long as one after the other, so
# the CPUs of all jobs that run at once are at most those of the machine.

# matches NAME PATTERN...: whether one of the shell globs matches
matches()
{
	local pattern

	set -f
	for pattern in ${2//,/ }; do
		# shellcheck disable=SC2254
		case $1 in
		$pattern) set +f && return 0 ;;
		esac
	done
	set +f
	return 1
}

# need FILE: sets where, tier, on_oldest, hca, link, function, eswitch, smp, mem, numa,
# module, args, guest, only, config, instrument, icount, timeout and is_long from the header
# of the test
need()
{
	local key value

	where='' tier=full on_oldest=no hca=1 link=$link_default function=pf eswitch=no smp='' mem='' numa='' module=yes
	args='' guest='' only='' config='' instrument='' icount=no
	timeout=60 is_long=no
	while IFS='=' read -r key value; do
		case $key in
		where | tier | hca | link | function | eswitch | smp | mem | numa | module | args | guest | \
			config | instrument | icount | timeout)
			printf -v "$key" '%s' "$value"
			;;
		kernels) only=$value ;;
		oldest) on_oldest=$value ;;
		long) is_long=$value ;;
		*) echo "$1: unknown word $key in its header" >&2 && exit 2 ;;
		esac
	done < <(test_header "$1")
	if [ -z "$smp" ]; then
		smp=1
		! "${other_environment:-false}" || [ "$icount" = yes ] || smp=2
	fi
	case $tier in
	core | full) ;;
	*) echo "$1: tier: $tier?" >&2 && exit 2 ;;
	esac
	[ -n "$where" ] || {
		echo "$1: no \"runs on:\" line at its top" >&2
		exit 2
	}
}

# is_for KERNEL: succeeds if the test that need() has read is for this kernel. The kernel
# gcov is of the newest series, and makes calls fail as debug does: it runs the tests of
# both.
is_for()
{
	case " ${only:-$1} " in
	*" $1 "*) ;;
	*" newest "* | *" debug "*) [ "$1" = gcov ] && [ -z "$instrument" ] ;;
	*) return 1 ;;
	esac
}

# The jobs are parallel arrays. job_expected is in tenths of a second.
job_kernel=() job_key=() job_options=() job_tests=() job_time=()
job_hca=() job_smp=() job_mem=() job_expected=()

# Why tests cannot run, by KERNEL/NAME.
declare -A not_run=() long_tests=()
# The kernels of tests that are for none of this run's.
declare -A other_kernels=()

# at_least ARRAY INDEX NUMBER: raise an element of the array
at_least()
{
	local -n array=$1

	[ "$3" -le "${array[$2]}" ] || array[$2]=$3
}

# add_test KERNEL KEY OPTIONS PROGRAM: put a test into the job with that key
add_test()
{
	local kernel=$1 key=$2 options=$3 slow n items='' i bytes=0
	local limit expected

	! matches "$kernel/$name" "$without_patterns" || return 0
	slow=$(slowness_of "$kernel")
	limit=$((timeout * patience * slow * repeat))
	expected=$(($(expected_of "$kernel" "$name" "$timeout") * repeat))
	[ -z "$mem" ] || bytes=$(numfmt --from=iec "$mem")
	if $failed; then
		[ -n "${failed_before[$kernel/$name]:-}" ] || return 0
		key+=" $name"
	fi
	for ((n = 1; n <= repeat; n++)); do
		items+=" $name$(! $flaky || echo "#$n")"
		items+=":$((limit / repeat)):$4"
	done
	for i in "${!job_key[@]}"; do
		[ "${job_kernel[i]}/${job_key[i]}" = "$kernel/$key" ] || continue
		job_tests[i]+=$items
		job_time[i]=$((job_time[i] + limit))
		job_expected[i]=$((job_expected[i] + expected))
		at_least job_hca "$i" "$hca"
		at_least job_smp "$i" "$smp"
		at_least job_mem "$i" "$bytes"
		return
	done
	job_kernel+=("$kernel") job_key+=("$key") job_options+=("$options")
	job_tests+=("${items# }") job_time+=("$limit")
	job_hca+=("$hca") job_smp+=("$smp") job_mem+=("$bytes")
	job_expected+=($((expected + boot_expected * slow)))
}

# plan_guest FILE PROGRAM: add a test for guests, once per kernel
plan_guest()
{
	local options='' key kernel reason

	case $module in
	yes) ;;
	no) options+=' --no-module' ;;
	later) options+=' --module-later' ;;
	dkms) options+=' --dkms' ;;
	*) echo "$1: module: $module?" >&2 && exit 2 ;;
	esac
	[ "$link" = ib ] || options+=" --link $link"
	[ "$function" = pf ] || options+=" --function $function"
	case $eswitch in
	no) ;;
	yes) options+=' --eswitch' ;;
	*) echo "$1: eswitch: $eswitch?" >&2 && exit 2 ;;
	esac
	[ -z "$numa" ] || options+=" --numa $numa"
	[ -z "$instrument" ] || options+=" --instrument $instrument"
	case $icount in
	no) ;;
	yes) options+=' --icount' ;;
	*) echo "$1: icount: $icount?" >&2 && exit 2 ;;
	esac
	key=guest$options
	[ -z "$args" ] || key+=" $args"
	if [ -n "$guest" ]; then
		key+=" guest $guest"
	elif [ "$smp" -gt 1 ]; then
		key+=" smp"
	fi
	other_kernels[$name]=$only
	for kernel in $kernels; do
		is_for "$kernel" || continue
		[ "$kernel" != "$oldest" ] || [ "$on_oldest" = yes ] || continue
		unset "other_kernels[$name]"
		if [ "$kernel" = debug ] && ! matches "$name" "$debug_patterns"
		then
			continue
		fi
		if [ "$patterns" = '*' ] && ! in_arch_list "$kernel" "$name"
		then
			continue
		fi
		# shellcheck disable=SC2086 # a list
		reason=$(cannot_run "$kernel" "$module" $config)
		if [ -n "$reason" ]; then
			# What was not started has not failed.
			$failed || not_run[$kernel/$name]=$reason
			continue
		fi
		# With one CPU KCSAN finds no data race.
		if [ "$kernel" = kcsan ] && [ "$smp" -lt 2 ]; then
			continue
		fi
		add_test "$kernel" "$key" \
			"$options${args:+ --module-args $args}" "$2"
	done
}

# plan_file FILE: adds the test to the jobs, if the user selected it
plan_file()
{
	local name

	name=$(test_name "$1")
	matches "$name" "$patterns" || return 0
	need "$1"
	! $core || [ "$tier" = core ] || return 0
	if [ "$is_long" = yes ]; then
		$long || return 0
		long_tests[$name]=yes
	fi
	if $list; then
		printf '%-28s %s\n' "$name" \
			"$(test_header "$1" | paste -sd' ')"
		listed=true
	elif [ "$where" = host ] && [ "$patterns" = '*' ] && all_of_other_arch; then
		# What this machine does is no matter of such a kernel.
		return 0
	elif [ "$where" = host ]; then
		# Host tests of one area may use the same files, so they run one
		# after the other.
		add_test host "host ${name%%_*}" '' "$(test_program "$1")"
	else
		plan_guest "$1" "$(test_program "$1")"
	fi
}

# split_long: halves each guest's job that would still run when all others have ended
split_long()
{
	local i n total=0 fair half items=() most

	for i in "${!job_key[@]}"; do
		total=$((total + job_expected[i] * job_smp[i]))
	done
	fair=$((total / cpus))
	n=${#job_key[@]}
	for ((i = 0; i < n; i++)); do
		[ "${job_kernel[i]}" != host ] || continue
		[ "${job_smp[i]}" -lt "$cpus" ] || continue
		[[ ${job_key[i]} != *' guest '* ]] || continue
		most=$((job_expected[i] - fair))
		[ "$most" -gt $((2 * boot_expected)) ] || continue
		read -r -a items <<<"${job_tests[i]}"
		[ ${#items[@]} -gt 1 ] || continue
		split_job "$i" $((job_expected[i] - most / 2))
	done
}

# split_job JOB KEEP: moves the tests after the first KEEP tenths of a second to
# a new job
split_job()
{
	local i=$1 keep=$2 item name limit spent=0 expected
	local slow left='' rest='' left_time=0 rest_time=0

	slow=$(slowness_of "${job_kernel[i]}")
	for item in ${job_tests[i]}; do
		IFS=: read -r name limit _ <<<"$item"
		expected=$(expected_of "${job_kernel[i]}" "${name%#*}" \
			$((limit / patience / slow)))
		if [ -z "$left" ] || [ $((spent + expected)) -le "$keep" ]; then
			left+=" $item"
			left_time=$((left_time + limit))
			spent=$((spent + expected))
		else
			rest+=" $item"
			rest_time=$((rest_time + limit))
		fi
	done
	[ -n "$rest" ] || return 0
	job_kernel+=("${job_kernel[i]}") job_key+=("${job_key[i]} more")
	job_options+=("${job_options[i]}") job_tests+=("${rest# }")
	job_time+=("$rest_time") job_hca+=("${job_hca[i]}")
	job_smp+=("${job_smp[i]}") job_mem+=("${job_mem[i]}")
	job_expected+=($((job_expected[i] - spent)))
	job_tests[i]=${left# } job_time[i]=$left_time
	job_expected[i]=$((spent + boot_expected * slow))
}

# job_order: the jobs in the order to start them. First come those that need the
# whole machine, then the longest: a long job that starts last would end alone.
job_order()
{
	local i whole

	for i in "${!job_key[@]}"; do
		whole=0
		[ "${job_smp[i]}" -lt "$cpus" ] || whole=1
		echo "$whole ${job_expected[i]} $i"
	done | sort -k1,1nr -k2,2nr -k3,3n | cut -d' ' -f3
}
