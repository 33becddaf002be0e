# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Registering with a shared XRC receive QP against upstream's open and close of
# the same QP, and with 1, 1 000 and 16 000 shared QPs in the domain.

. selftests/bench/lib.sh

# xrc_reg_figures NAME UNIT ROUNDS PAIRS
xrc_reg_figures()
{
	local name=$1 unit=$2 rounds=$3 pairs=$4 qps round reg open join create
	local -A all_reg=() all_join=() all_create=() ratios=()

	for round in $(seq "$rounds"); do
		for qps in 1 1000 16000; do
			read -r reg open join create < <(
				build/selftests/bench/xrc_reg -n "$pairs" -k "$qps")
			echo "# round $round, $qps QPs: reg $reg, upstream $open," \
				"get $join, create $create $unit"
			all_reg[$qps]+=" $reg"
			all_join[$qps]+=" $join"
			all_create[$qps]+=" $create"
			[ "$qps" != 1 ] || {
				ratios[upstream]+=" $(ratio "$reg" "$open")"
				set -- "$reg" "$join" "$create"
				continue
			}
			ratios[reg.$qps]+=" $(ratio "$reg" "$1")"
			ratios[get.$qps]+=" $(ratio "$join" "$2")"
			ratios[create.$qps]+=" $(ratio "$create" "$3")"
		done
	done
	# shellcheck disable=SC2086
	{
		bench_note "xrc_reg_unreg_$name" "$unit" ${all_reg[1]}
		bench_note "xrc_get_unreg_$name" "$unit" ${all_join[1]}
		bench_note "xrc_create_unreg_$name" "$unit" ${all_create[1]}
		bench_at_most "xrc_reg_upstream_${name}_ratio" ratio 1.0 \
			${ratios[upstream]}
		for qps in 1000 16000; do
			bench_at_most "xrc_reg_${qps}_qps_${name}_ratio" ratio \
				1.2 ${ratios[reg.$qps]}
			bench_at_most "xrc_get_${qps}_qps_${name}_ratio" ratio \
				1.2 ${ratios[get.$qps]}
			bench_at_most "xrc_create_${qps}_qps_${name}_ratio" \
				ratio 1.2 ${ratios[create.$qps]}
		done
	}
}
