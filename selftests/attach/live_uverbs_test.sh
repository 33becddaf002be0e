#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: live-uverbs, kernels: 7.2 7.3 debug, hca: 2, smp: 2, module: later, timeout: 400, config: INFINIBAND_IPOIB
#
# Since 7.2 mlx5_ib does not need ib_uverbs. A device that is in use when mlx5_ep is loaded
# gets the whole of it as soon as ib_uverbs is loaded, or loaded again. TCP and a mount of
# NFS go on. Both modules can be unloaded, in each order that is safe. All of that races
# with programs that are killed and with a device that goes.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh
# shellcheck source=selftests/attach/live.sh
. selftests/attach/live.sh

rounds=${MLX5_EP_LIVE_ROUNDS:-10}
[ "$slowness" -le 1 ] || rounds=$((rounds / 2))

# whole: both devices are attached wholly, and each holds the module
whole()
{
	[ "$(ep_get attached)" = yes ] &&
		[ "$(cat "/sys/class/infiniband/$other/mlx5_ep/attached")" = yes ] &&
		ep_get uverbs_ids | grep -q '^object xrc_rcv_qp '
}

same_device()
{
	[ "$(stat -L -c %i "/sys/class/infiniband/$dev")" = "$inode" ]
}

# rest_works: what a device with one half does not have
rest_works()
{
	uuar_traffic -q -n 4 -r 1
	build/selftests/uuar_query_test
	build/selftests/xrc_rcv_qp_test
	build/selftests/notifier_file_test
	data_goes_on
	same_device
}

# mlx5_ep does not need ib_uverbs, and is not held without it.
comes_later()
{
	uverbs_goes
	ep_insmod
	[ ! -d /sys/module/ib_uverbs ] || fail 'mlx5_ep has loaded ib_uverbs'
	[ "$(ep_get attached)" = 'policies, limits; the rest when ib_uverbs is loaded' ] ||
		fail "$(ep_get attached)"
	[ -z "$(ep_get uverbs_ids)" ]
	refs 0
	echo 0 >/sys/module/mlx5_ep/parameters/attach
	uverbs_comes
	[ "$(ep_get attached)" = \
		'policies, limits; without the rest: module parameter attach is off' ] ||
		fail "$(ep_get attached)"
	refs 0
	program
	uverbs_goes
	echo 1 >/sys/module/mlx5_ep/parameters/attach
	uverbs_comes
	whole || fail "$(ep_get attached)"
	refs 2
	rest_works
}

holds_module()
{
	must_fail rmmod mlx5_ep 2>"$tmp/rmmod"
	grep -i 'in use' "$tmp/rmmod"
	mlx5ep doctor >"$tmp/doctor" || true
	grep "^ok: unloading: mlx5_ep is held by $dev, $other" "$tmp/doctor"
	grep "^ok: $dev: attached" "$tmp/doctor"
}

# ib_uverbs goes and comes while mlx5_ep is there, which can go in between.
goes_and_comes()
{
	uverbs_goes
	refs 0
	ep_get attached | grep -x 'policies, limits; the rest when ib_uverbs is loaded'
	uverbs_comes
	whole
	refs 2
	uverbs_goes
	unloads
	data_goes_on
	uverbs_comes
	program
	ep_insmod
	is_half
	refs 0
	unloads
	program
}

# mlx5_ep comes when ib_uverbs is there, and has read the driver's definitions.
loaded_again()
{
	uverbs_comes
	ep_insmod
	ep_get attached |
		grep -x 'policies, limits; the rest when ib_uverbs is loaded again, or the device registers again'
	program
	uverbs_goes
	uverbs_comes
	whole
	rest_works
	uverbs_goes
	unloads
}

# The command ends nothing, and does nothing that would.
attach_command()
{
	local pid

	uverbs_comes
	modprobe rdma_ucm
	ep_insmod
	holds observed
	code 1 mlx5ep attach --uverbs "$dev"
	grep 'ib_uverbs cannot be loaded again: end the programs' "$tmp/err"
	is_half
	ends observed "$pid"
	code 0 mlx5ep attach --uverbs "$dev"
	grep -x "$dev: attached" "$tmp/out"
	whole
	[ -d /sys/module/rdma_ucm ]
	rest_works
}

# The file outlives its context, and what ib_uverbs keeps for it.
file_stays()
{
	local pid

	whole
	selftests/attach/notifier_left.py "$dev" "$tmp/left" &
	pid=$!
	wait_for 20 [ -e "$tmp/left" ]
	must_fail uverbs_goes
	touch "$tmp/left.end"
	wait $pid
	wait_for 10 uverbs_goes
	unloads
}

# again NAME CMD...: runs CMD until the end, whether it succeeds or not
again()
{
	local name=$1 n=0

	shift
	while [ ! -e "$tmp/end" ]; do
		"$@" >/dev/null 2>&1 && n=$((n + 1))
		echo $n >"$tmp/$name.times"
		sleep 0.0$((RANDOM % 10))
	done
}

uverbs_reloads()
{
	uverbs_goes
	sleep 0.$((RANDOM % 3))
	modprobe ib_uverbs
}

is_killed()
{
	timeout -s KILL 0.$((RANDOM % 9 + 1)) build/bin/xrc_hold "$tmp/domain" key
}

rebinds()
{
	echo "$aux" >"$ib_driver/unbind" 2>/dev/null
	sleep 0.$((RANDOM % 5))
	echo "$aux" >"$ib_driver/bind"
	sleep 1
}

# begin CMD...: runs programs, and each CMD, until ends_all
begin()
{
	local name

	rm -f "$tmp/end" "$tmp"/*.times
	pids=()
	for name in is_killed program "$@"; do
		again "$name" "$name" &
		pids+=($!)
	done
}

ends_all()
{
	local name

	touch "$tmp/end"
	wait "${pids[@]}" || true
	grep . "$tmp"/*.times
	for name in program uverbs_reloads; do
		more_than 0 $name.times || fail "$name never succeeded"
	done
}

in_races()
{
	local -a pids
	local i

	begin uverbs_reloads
	for i in $(seq "$rounds"); do
		ep_insmod
		grep -Ex 'yes|policies, limits; the rest when .*' "$ep/attached" >/dev/null ||
			fail "round $i: $(cat "$ep/attached")"
		sleep 0.$((RANDOM % 10))
		unloads
		echo "# progress: $i of $rounds" >&3
	done
	ends_all
	wait_for 20 uverbs_goes
	uverbs_comes
	program
	data_goes_on
	same_device
}

# The module is there all the time, so a device that registers holds it.
device_goes()
{
	local -a pids

	aux=$(basename "$(echo "/sys/class/infiniband/$other/device"/mlx5_core.rdma.*)")
	ep_insmod
	begin uverbs_reloads rebinds
	sleep $rounds
	ends_all
	wait_for 10 [ -e "/sys/class/infiniband/$other/mlx5_ep/attached" ]
	wait_for 20 uverbs_goes
	uverbs_comes
	whole
	program
	echo 0 >/sys/module/mlx5_ep/parameters/attach
	echo "$aux" >"$ib_driver/unbind"
	echo "$aux" >"$ib_driver/bind"
	wait_for 10 [ -e "/sys/class/infiniband/$other" ]
	wait_for 20 uverbs_goes
	unloads
	uverbs_comes
	program
}

plan 11
program >/dev/null
stream_start
mount_start
inode=$(stat -L -c %i "/sys/class/infiniband/$dev")
base=$(hca_objects 'uar, pd, td, cq, qp, srq')
check 'without ib_uverbs: the rest comes when it is loaded' comes_later
check 'a device that has the rest holds the module' holds_module
check 'ib_uverbs goes and comes, and mlx5_ep can go in between' goes_and_comes
check 'with ib_uverbs: the rest comes when it is loaded again' loaded_again
check 'mlx5ep attach --uverbs loads it again where no program has it' attach_command
check 'the file of a notifier that is left holds ib_uverbs' file_stays
check 'both modules come and go while programs are killed' in_races
check 'nothing is left' becomes 20 "$base" hca_objects 'uar, pd, td, cq, qp, srq'
mount_end
stream_end
check 'ib_uverbs comes and goes while a device does' device_goes
check 'the HCA has nothing to complain of' both_clean
ktap_finished
