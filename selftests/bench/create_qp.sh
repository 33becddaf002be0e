# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Measures create_qp + destroy_qp in three states: the module is absent, it is
# attached under the policy stock, and the context is managed. The states take
# turns in one guest, so that a slow phase of the guest or of its host affects
# all three. Each round gives one ratio.

. selftests/bench/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh

dev=${MLX5_EP_DEVICE:-mlx5_0}
ep=/sys/class/infiniband/$dev/mlx5_ep

wait_path()
{
	local _

	for _ in $(seq 100); do
		[ ! -e "$1" ] || return 0
		sleep 0.1
	done
	echo "bench: $1 does not appear" >&2
	return 1
}

# create_qp_ratios NAME UNIT ROUNDS OPTION...: the options are the program's
create_qp_ratios()
{
	local name=$1 unit=$2 rounds=$3 round
	local absent stock managed
	local -a all=() under_stock=() plain=()

	shift 3
	for round in $(seq "$rounds"); do
		ib_unload
		[ ! -d /sys/module/mlx5_ep ] || rmmod mlx5_ep
		modprobe mlx5_ib
		wait_path "/sys/class/infiniband/$dev"
		absent=$(build/selftests/bench/create_qp "$@")

		ib_unload
		ep_insmod
		modprobe mlx5_ib
		wait_path "$ep/uuar_policy"
		stock=$(build/selftests/bench/create_qp "$@")
		echo 16 >"$ep/uuar_pages"
		echo independent >"$ep/uuar_policy"
		managed=$(build/selftests/bench/create_qp "$@")
		echo "# round $round: absent $absent, stock $stock," \
			"managed $managed $unit"
		plain+=("$absent")
		under_stock+=("$(ratio "$stock" "$absent")")
		all+=("$(ratio "$managed" "$absent")")
	done
	bench_note "create_qp_$name" "$unit" "${plain[@]}"
	bench_at_most "create_qp_stock_${name}_ratio" ratio 1.10 \
		"${under_stock[@]}"
	bench_at_most "create_qp_${name}_ratio" ratio 1.10 "${all[@]}"
}
