#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, guest: tool, timeout: 240
#
# The mlx5ep tool against the module: what it shows of running programs is what
# the HCA counts, set sets, attach attaches, doctor agrees.

set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

aux=$(basename "$(echo /sys/class/infiniband/"$dev"/device/mlx5_core.rdma.*)")
driver=/sys/bus/auxiliary/drivers/mlx5_ib.rdma

# code N CMD...: CMD ends with exit status N
code()
{
	local want=$1 got=0

	shift
	"$@" >"$tmp/out" 2>"$tmp/err" || got=$?
	cat "$tmp/out" "$tmp/err"
	[ $got -eq "$want" ] || fail "exit status $got, not $want"
}

# with_program CMD...: CMD runs while a program holds 8 QPs
with_program()
{
	local status=0 pid

	mkfifo "$tmp/fifo"
	uuar_traffic -n 8 -x "echo up >'$tmp/up'; cat '$tmp/fifo'" \
		>"$tmp/traffic" 2>&1 &
	pid=$!
	wait_for 30 test -s "$tmp/up" || cat "$tmp/traffic"
	"$@" || status=$?
	echo >"$tmp/fifo"
	wait $pid
	rm -f "$tmp/fifo" "$tmp/up"
	return $status
}

shown()
{
	code 0 mlx5ep show
	awk 'length > 100 { exit 1 }' "$tmp/out"
	code 0 mlx5ep -j show
	jq -e '.devices[0] | .policy == "independent" and .in_use == 16 and
		(.contexts | length == 1) and (.contexts[0] |
			.qps == 8 and .managed == 1 and .policy == "independent" and
			.source == "device" and .used_pages == 8 and
			.comm == "uuar_traffic") and
		([.uuars[] | select(.qps > 0)] | length == 8) and
		(.qps | length == 8)' "$tmp/out"
	# every QP on the page where the HCA has it
	jq -r '.devices[0].qps[] | "\(.qpn) \(.uar)"' "$tmp/out" | sort >"$tmp/tool"
	simhca-ctl dump | jq -r '.hcas[0].qps[] | select(.user) |
		"\(.qpn) \(.uar)"' | sort >"$tmp/hca"
	diff "$tmp/hca" "$tmp/tool"
}

shows_a_program()
{
	code 0 mlx5ep set --policy independent --pages 16
	[ "$(ep_get uuar_policy)" = independent ]
	with_program shown
	code 0 mlx5ep -j show contexts
	jq -e '.devices[0].contexts == [] and .devices[0].in_use == 0' "$tmp/out"
}

undoes()
{
	ep_policy stock
	# more than the device has
	code 1 mlx5ep set --policy independent --pages 8 --budget 999999999
	[ "$(ep_get uuar_policy)" = stock ]
	[ "$(ep_get uuar_pages)" = 0 ]
}

nobody()
{
	code 5 setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$(command -v mlx5ep)" set --policy independent
	[ "$(ep_get uuar_policy)" = stock ]
	code 0 setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$(command -v mlx5ep)" show
	grep -q 'debugfs needs root' "$tmp/out"
}

late_device()
{
	echo N >/sys/module/mlx5_ep/parameters/attach
	echo "$aux" >$driver/unbind
	echo "$aux" >$driver/bind
	wait_for 30 test -e "/sys/class/infiniband/$dev"
	[ "$(cat "$ep/attached" 2>/dev/null)" != yes ]
	code 1 mlx5ep doctor
	grep -q '^problem: attaching' "$tmp/out"
	grep -q "mend with: mlx5ep attach $dev" "$tmp/out"
	code 3 mlx5ep show
	echo Y >/sys/module/mlx5_ep/parameters/attach
	with_program refused
	code 0 mlx5ep attach --force "$dev"
	[ "$(cat "$ep/attached")" = yes ]
	code 0 mlx5ep show
}

refused()
{
	code 1 mlx5ep attach "$dev"
	grep -q 'uuar_traffic' "$tmp/out"
	[ "$(cat "$ep/attached" 2>/dev/null)" != yes ]
}

doctor()
{
	mkdir -p "$tmp/etc"
	code 1 mlx5ep doctor
	grep -q "^ok: $dev: attached" "$tmp/out"
	grep -q '^ok: module' "$tmp/out"
	# the lab has not installed the modprobe configuration
	grep '^problem' "$tmp/out" | grep -v '^problem: boot order' &&
		fail "another problem than the boot order"
	true
}

policies=(independent shared-uar shared-uuar stock)

# job N: four QPs in cgroup N, until told to end
job()
{
	echo "$BASHPID" >"$tmp/cg/job$1/${2:-}cgroup.procs"
	exec uuar_traffic -n 4 -x "echo up >'$tmp/up$1'; cat '$tmp/end$1'" \
		>"$tmp/traffic$1" 2>&1
}

all_up()
{
	local i

	for i in 0 1 2 3 4 5 6 7; do
		[ -s "$tmp/up$i" ] || return 1
	done
}

# One context per job: policy and reason, by the pid of the job
jobs_shown()
{
	local i

	code 0 mlx5ep -j show
	for i in 0 1 2 3 4 5 6 7; do
		jq -e --argjson pid "${pids[i]}" --arg policy "${policies[i % 4]}" \
			'.devices[0].contexts[] | select(.pid == $pid) |
			.source == "cgroup" and .policy == $policy and .qps == 4 and
			.managed == (if $policy == "stock" then 0 else 1 end)' \
			"$tmp/out" || fail "job $i is not ${policies[i % 4]}"
	done
	jq -e '.devices[0].cgroups | split("\n") | length == 8' "$tmp/out"
}

# The eighth job runs in a cgroup below its own
eight_jobs()
{
	local i pids=()

	mkdir -p "$tmp/cg"
	mount -t cgroup2 none "$tmp/cg"
	ep_policy shared-uuar
	for i in 0 1 2 3 4 5 6 7; do
		mkdir -p "$tmp/cg/job$i"
		mkfifo "$tmp/end$i"
		code 0 mlx5ep set --cgroup "/job$i" \
			--policy "${policies[i % 4]}" --pages $((4 + i))
	done
	mkdir "$tmp/cg/job7/below"
	for i in 0 1 2 3 4 5 6; do
		job $i &
		pids+=($!)
	done
	job 7 below/ &
	pids+=($!)
	wait_for 60 all_up || fail "jobs: $(cat "$tmp"/traffic*)"
	jobs_shown
	for i in 0 1 2 3 4 5 6 7; do
		echo >"$tmp/end$i"
	done
	for i in 0 1 2 3 4 5 6 7; do
		wait "${pids[i]}"
	done
	code 1 mlx5ep set --cgroup /nowhere --policy stock
	grep -q 'no such cgroup' "$tmp/err"
	code 0 mlx5ep set --cgroup /job0 --clear
	code 1 mlx5ep set --cgroup /job0 --clear
	rmdir "$tmp/cg/job7/below" "$tmp"/cg/job?
	code 0 mlx5ep -j show
	jq -e '.devices[0] | .cgroups == "" and .in_use == 0' "$tmp/out"
	umount "$tmp/cg"
	ep_policy stock
}

watches()
{
	code 0 mlx5ep watch -n 0.1 -c 3 contexts
	[ "$(grep -c '^DEVICE' "$tmp/out")" = 3 ]
}

plan 8
check "show: programs and QPs are where the HCA has them" shows_a_program
check "set: what was written before a failure is put back" undoes
check "set: permission denied is exit code 5; show works without root" nobody
check "set --cgroup: eight jobs side by side, each with its policy" eight_jobs
check "watch: as often as told" watches
check "doctor: nothing but the boot order is wrong here" doctor
check "attach: a late device, refused while in use, attached after" late_device
check "plan: the adapter's BAR" code 0 mlx5ep -d "$dev" plan -t 16 -p 8
ep_policy stock
ktap_finished
