# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Completion of mlx5ep(8) for bash.

# The names of devices are often others than mlx5_0: rdma-core renames them.
_mlx5ep_devices()
{
	local dir

	for dir in /sys/class/infiniband/*/mlx5_ep; do
		[ -e "$dir" ] || continue
		dir=${dir%/mlx5_ep}
		echo "${dir##*/}"
	done
}

# _mlx5ep_words WORD...: those that begin with what is typed
_mlx5ep_words()
{
	local word

	for word in "$@"; do
		[[ $word != "$cur"* ]] || COMPREPLY+=("$word")
	done
}

# _mlx5ep_files -f|-d|-c: names of files, folders or commands. bash appends a slash to
# a folder, and no blank, and puts a backslash before a blank in a name.
_mlx5ep_files()
{
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}

# _mlx5ep_value COMMAND OPTION: values of the option; fails if it takes none
_mlx5ep_value()
{
	local policies='stock independent shared-uar shared-uuar'

	case $1:$2 in
	:-d|:--device)
		# shellcheck disable=SC2046 # words
		_mlx5ep_words $(_mlx5ep_devices) ;;
	set:--policy|run:--policy|run:-p)
		# shellcheck disable=SC2086
		_mlx5ep_words $policies ;;
	bench:--policies|bench:-p)
		# shellcheck disable=SC2086
		_mlx5ep_words $policies ${policies// /,} ;;
	set:--strict) _mlx5ep_words on off ;;
	set:--limit) _mlx5ep_words none ;;
	plan:--category|plan:-c)
		_mlx5ep_words mpi-everywhere 2xdynamic dynamic shared-dynamic \
			static mpi-threads ;;
	metrics:--output|metrics:-o|selftest:--report)
		_mlx5ep_files -f ;;
	bench:--output|bench:-o|set:--cgroup)
		_mlx5ep_files -d ;;
	show:--sort|show:-s)
		_mlx5ep_words pid uid policy qps pages uuars shared uar-pages \
			sharers level watches bytes events program ;;
	# Numbers and texts
	set:--pages|set:--budget|set:--user-limit|set:--exempt) ;;
	run:--pages|run:-n) ;;
	show:--filter|show:-f|show:--top|show:-t) ;;
	show:--interval|show:-n|show:--count|show:-c) ;;
	plan:--threads|plan:-t|plan:--processes|plan:-p|plan:--bar|plan:-b) ;;
	bench:--rounds|bench:-r|bench:--threads|bench:-t) ;;
	bench:--messages|bench:-m|selftest:--seconds|selftest:-s) ;;
	*) return 1 ;;
	esac
}

# _mlx5ep_program N: of run, the program and its arguments stand from word N on
_mlx5ep_program()
{
	if [ "$COMP_CWORD" -eq "$1" ]; then
		_mlx5ep_files -c
	else
		_mlx5ep_files -f
	fi
}

# _mlx5ep_command COMMAND: its options and words
_mlx5ep_command()
{
	local tables='all differs cgroups contexts uuars qps users xrc watches'

	# shellcheck disable=SC2046,SC2086 # words
	case $1 in
	'') _mlx5ep_words -j --json -d --device -h --help -V --version \
		show set apply check plan attach doctor run metrics \
		selftest bench ;;
	show) _mlx5ep_words --interval --count --sort --filter --top --help \
		$tables ;;
	set) _mlx5ep_words --policy --strict --pages --budget --user-limit \
		--exempt --cgroup --limit --clear --save --help ;;
	apply) _mlx5ep_words --cgroups --early --once --help $(_mlx5ep_devices) ;;
	check)
		_mlx5ep_files -f
		_mlx5ep_words --help ;;
	plan) _mlx5ep_words --threads --processes --category --bar --help ;;
	run) _mlx5ep_words --policy --pages --strict --help -- ;;
	metrics) _mlx5ep_words --output --help ;;
	selftest) _mlx5ep_words --reload --report --seconds --help $(_mlx5ep_devices) ;;
	bench) _mlx5ep_words --rounds --threads --policies --messages --output \
		--help msgrate latency globalarray stencil pipeline xsrq memory ;;
	attach) _mlx5ep_words --force --users --uverbs --help $(_mlx5ep_devices) ;;
	doctor) _mlx5ep_words --help ;;
	esac
}

_mlx5ep()
{
	local cur=${COMP_WORDS[COMP_CWORD]} command='' i words

	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		case $command:${COMP_WORDS[i]} in
		:-d|:--device|run:-p|run:--policy|run:-n|run:--pages) ((i++)) ;;
		run:--)
			_mlx5ep_program $((i + 1))
			return ;;
		:-*|run:-*) ;;
		run:*)
			_mlx5ep_program $i
			return ;;
		:*) command=${COMP_WORDS[i]} ;;
		esac
	done
	_mlx5ep_value "$command" "${COMP_WORDS[COMP_CWORD-1]}" && return
	_mlx5ep_command "$command"
	# The program need not stand behind --.
	[ "$command" != run ] || [[ $cur == -* ]] || {
		mapfile -t words < <(compgen -c -- "$cur")
		COMPREPLY+=("${words[@]}")
	}
}

complete -F _mlx5ep mlx5ep
