# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Completion of mlx5ep(8) for bash.

_mlx5ep_devices()
{
	local dir

	for dir in /sys/class/infiniband/mlx5_*; do
		[ -e "$dir" ] && echo "${dir##*/}"
	done
}

_mlx5ep()
{
	local cur=${COMP_WORDS[COMP_CWORD]}
	local prev=${COMP_WORDS[COMP_CWORD-1]}
	local words='' command='' i

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-d|--device) ((i++)) ;;
		show|set|apply|check|watch|plan|attach|doctor|run|metrics|selftest|bench)
			command=${COMP_WORDS[i]}
			break ;;
		esac
	done
	case $prev in
	-d|--device) words=$(_mlx5ep_devices) ;;
	--policy) words='stock independent shared-uar shared-uuar' ;;
	--strict) words='on off' ;;
	-c|--category)
		[ "$command" = plan ] || return
		words='mpi-everywhere 2xdynamic dynamic shared-dynamic static
			mpi-threads' ;;
	--output|-o)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return ;;
	--cgroup)
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return ;;
	--pages|--budget|--user-limit|--exempt|--threads|--processes|--bar|--rounds|--policies|--messages|-t|-p|-b|-n)
		return ;;
	esac
	if [ -z "$words" ]; then
		case $command in
		'') words='-j --json -d --device -h --help -V --version
			show set apply check watch plan attach doctor run metrics selftest bench' ;;
		show) words='--sort --filter --top all differs cgroups contexts uuars qps users xrc watches' ;;
		watch) words='--interval --count --sort --filter --top all differs cgroups contexts uuars qps users xrc watches' ;;
		set) words='--policy --strict --pages --budget --user-limit
			--exempt --cgroup --limit --clear --save' ;;
		apply) words="--early --once $(_mlx5ep_devices)" ;;
		check)
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			return ;;
		plan) words='--threads --processes --category --bar' ;;
		run) words="--policy --pages --strict -- $(compgen -c -- "$cur")" ;;
		metrics) words='--output --listen' ;;
		selftest) words="--reload $(_mlx5ep_devices)" ;;
		bench) words='--rounds --threads --policies --messages --output
			msgrate latency globalarray stencil pipeline xsrq memory' ;;
		attach) words="--force --users $(_mlx5ep_devices)" ;;
		esac
	fi
	[ -z "$command" ] || words="$words --help"
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -F _mlx5ep mlx5ep
