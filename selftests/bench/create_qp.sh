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

# measured_absent OPTION..., measured_attached OPTION...: print the program's
# figure; the second one leaves the module attached, under the policy stock
measured_absent()
{
	ib_unload
	[ ! -d /sys/module/mlx5_ep ] || rmmod mlx5_ep
	modprobe mlx5_ib
	wait_path "/sys/class/infiniband/$dev"
	build/selftests/bench/create_qp "$@"
}

measured_attached()
{
	ib_unload
	ep_insmod
	modprobe mlx5_ib
	wait_path "$ep/uuar_policy"
	build/selftests/bench/create_qp "$@"
}

# create_qp_ratios NAME UNIT ROUNDS OPTION...: the options are the program's
create_qp_ratios()
{
	local name=$1 unit=$2 rounds=$3 round
	local absent stock managed
	local -a all=() under_stock=() plain=()

	shift 3
	for round in $(seq "$rounds"); do
		absent=$(measured_absent "$@")
		stock=$(measured_attached "$@")
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

# open_ratios ROUNDS OPTION...: what ibv_open_device() costs under a policy, with
# one page, with eight, with the 16 that are the most which the module takes by
# itself, and with as many as there can be
open_ratios()
{
	local rounds=$1 round absent stock pages
	local -a plain=() under_stock=() one=() eight=() own=() most=()
	local -A managed

	shift
	for round in $(seq "$rounds"); do
		absent=$(measured_absent -o "$@")
		stock=$(measured_attached -o "$@")
		echo independent >"$ep/uuar_policy"
		# libmlx5 asks for 8 pages, unless it is told to ask for less.
		echo 1 >"$ep/uuar_pages"
		managed[1]=$(MLX5_TOTAL_UUARS=2 MLX5_NUM_LOW_LAT_UUARS=1 \
			build/selftests/bench/create_qp -o "$@")
		for pages in 8 16 256; do
			echo $pages >"$ep/uuar_pages"
			managed[$pages]=$(build/selftests/bench/create_qp -o "$@")
		done
		echo "# round $round: absent $absent, stock $stock," \
			"1 page ${managed[1]}, 8 ${managed[8]}," \
			"16 ${managed[16]}," \
			"256 ${managed[256]} instructions"
		plain+=("$absent")
		under_stock+=("$(ratio "$stock" "$absent")")
		one+=("$(ratio "${managed[1]}" "$absent")")
		eight+=("$(ratio "${managed[8]}" "$absent")")
		own+=("$(ratio "${managed[16]}" "$absent")")
		most+=("$(ratio "${managed[256]}" "$absent")")
	done
	bench_note open_instr instructions "${plain[@]}"
	bench_at_most open_stock ratio 1.05 "${under_stock[@]}"
	bench_at_most open_managed ratio 1.05 "${one[@]}"
	bench_note open_managed_8_pages ratio "${eight[@]}"
	bench_at_most open_managed_16_pages ratio 1.25 "${own[@]}"
	bench_note open_managed_256_pages ratio "${most[@]}"
}
