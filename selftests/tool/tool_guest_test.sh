#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: tool, timeout: 240, config: INFINIBAND_IPOIB
#
# The mlx5ep tool with the module. What it shows of running programs is what the
# HCA counts; `set` sets, `attach` attaches, and doctor finds nothing wrong.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

aux=$(basename "$(echo /sys/class/infiniband/"$dev"/device/mlx5_core.rdma.*)")
driver=/sys/bus/auxiliary/drivers/mlx5_ib.rdma

# with_program CMD...: runs CMD while a program holds 8 QPs
with_program()
{
	local status pid

	mkfifo "$tmp/fifo"
	uuar_traffic -n 8 -x "echo up >'$tmp/up'; cat '$tmp/fifo'" \
		>"$tmp/traffic" 2>&1 &
	pid=$!
	wait_for 30 test -s "$tmp/up" || cat "$tmp/traffic"
	# CMD is not called in a condition, because set -e has no effect there.
	set +e
	(set -e; "$@")
	status=$?
	set -e
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
	# The pages in use are one for each QP and the one of the context's CQs.
	jq -e '.devices[0] | .policy == "independent" and .in_use == 9 and
		(.contexts | length == 1) and (.contexts[0] |
			.qps == 8 and .managed == 1 and .policy == "independent" and
			.source == "device" and .used_pages == 8 and
			.comm == "uuar_traffic") and
		([.uuars[] | select(.qps > 0)] | length == 8) and
		(.qps | length == 8)' "$tmp/out"
	# The tool shows each QP on the page that the HCA knows for it.
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
	# The budget is larger than the device has UAR pages.
	code 1 mlx5ep set --policy independent --pages 8 --budget 999999999
	grep -q 'does not have that many' "$tmp/err"
	[ "$(ep_get uuar_policy)" = stock ]
	[ "$(ep_get uuar_pages)" = 0 ]
	code 2 mlx5ep set --exempt sixteen_letters_
	grep -q 'longer than 15 characters' "$tmp/err"
	code 0 mlx5ep set --exempt 'one two'
	[ "$(ep_get uuar_exempt)" = 'one two' ]
	code 0 mlx5ep set --exempt ''
	[ -z "$(ep_get uuar_exempt)" ]
}

# A program can choose its own name, but must not be able to add rows to a
# table.
names()
{
	local name=$'x\n7 stock \\12'

	cp "$(command -v uuar_traffic)" "$tmp/$name"
	LD_LIBRARY_PATH=$PWD/build/lib "$tmp/$name" -n 1 -x "mlx5ep -j show >'$tmp/out'"
	jq -e --arg name "$name" '.devices[0].contexts | length == 1 and
		.[0].comm == $name' "$tmp/out"
}

nobody()
{
	code 5 setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$(command -v mlx5ep)" set --policy independent
	[ "$(ep_get uuar_policy)" = stock ]
	code 0 setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$(command -v mlx5ep)" show qps
	grep -q 'debugfs needs root' "$tmp/out"
	as_nobody
}

# A user sees the own processes as root does, and no others.
as_nobody()
{
	local user=(setpriv --reuid 65534 --regid 65534 --clear-groups)

	ep_policy independent 8
	chmod 777 "$tmp"
	with_program "${user[@]}" "$(command -v mlx5ep)" -j show >"$tmp/none"
	jq -e '.devices[0] | .own == "all" and .contexts == []' "$tmp/none"
	"${user[@]}" "$(command -v uuar_traffic)" -q -n 3 -x \
		"$(command -v mlx5ep) -j show >$tmp/own"
	jq -e '.devices[0] | .qps == null and (.contexts | length == 1) and
		(.contexts[0] | .qps == 3 and .placed == 3 and .used_pages == 3 and
			.source == "device" and .policy == "independent" and
			.comm == "uuar_traffic") and
		([.uuars[] | select(.qps > 0)] | length == 3)' "$tmp/own"
	ep_policy stock
}

preexisting_device()
{
	local interface

	echo N >/sys/module/mlx5_ep/parameters/attach
	echo "$aux" >$driver/unbind
	echo "$aux" >$driver/bind
	wait_for 30 test -e "/sys/class/infiniband/$dev"
	[ "$(cat "$ep/attached" 2>/dev/null)" != yes ]
	code 1 mlx5ep doctor
	grep -q '^problem: attaching' "$tmp/out"
	grep -q "mend with: mlx5ep attach $dev" "$tmp/out"
	code 3 mlx5ep -d "$dev" show
	echo Y >/sys/module/mlx5_ep/parameters/attach
	with_program refused uuar_traffic
	modprobe ib_ipoib
	wait_for 30 ls "/sys/class/infiniband/$dev/device/net" >/dev/null
	interface=$(ls "/sys/class/infiniband/$dev/device/net")
	ip addr add 192.0.2.1/24 dev "$interface"
	refused "interface $interface"
	ip addr flush dev "$interface"
	ip link set "$interface" up
	refused "interface $interface"
	ip link set "$interface" down
	code 0 mlx5ep attach "$dev"
	[ "$(cat "$ep/attached")" = yes ]
	wait_for 30 rmmod ib_ipoib
	code 0 mlx5ep -d "$dev" show
}

# refused USER: the tool refuses the user and does not change the device
refused()
{
	code 1 mlx5ep attach "$dev"
	grep -q "$1" "$tmp/out"
	[ "$(cat "$ep/attached" 2>/dev/null)" != yes ]
}

doctor()
{
	mkdir -p "$tmp/etc"
	code 1 mlx5ep doctor
	grep -q "^ok: $dev: attached" "$tmp/out"
	grep -q '^ok: module' "$tmp/out"
	# doctor misses the modprobe configuration, which the lab does not
	# install.
	grep '^problem' "$tmp/out" | grep -v '^problem: boot order' &&
		fail "another problem than the boot order"
	true
}

policies=(independent shared-uar shared-uuar stock)
# The UAR pages that four QPs take under each policy. libmlx5 places the first
# four QPs of a stock context on two pages.
on_pages=(4 2 2 2)

# job N: runs a program with four QPs in cgroup N, until the test ends it
job()
{
	echo "$BASHPID" >"$tmp/cg/job$1/${2:-}cgroup.procs"
	exec uuar_traffic -n 4 -x "echo up >'$tmp/up$1'; cat '$tmp/end$1'" \
		>"$tmp/traffic$1" 2>&1
}

all_up()
{
	local i

	for i in {0..8}; do
		[ -s "$tmp/up$i" ] || return 1
	done
}

# is_context JOB FILTER: the job has one context, and jq's FILTER holds for it
is_context()
{
	jq -e --argjson pid "${pids[$1]}" '[.devices[0].contexts[] |
		select(.pid == $pid)] | length == 1 and (.[0] | '"$2"')' \
		"$tmp/out" >/dev/null || fail "job $1 is not: $2"
}

# pages_of JOB: prints how many UAR pages its QPs rang, as the HCA counted
pages_of()
{
	local qpns

	qpns=$(sed -n 's/^qp //p' "$tmp/traffic$1" | xargs printf '0x%x ')
	jq --arg qpns "$qpns" '($qpns | split(" ")) as $mine |
		[.hcas[0].uars[] | select(any(.slots[].qpns | keys[];
			IN($mine[])))] | length' "$tmp/dump"
}

# Each job has one context. The tool shows its policy and the reason, and the
# HCA counts its pages. Neither the ninth job's cgroup nor one above it has a
# policy.
jobs_shown()
{
	local i

	code 0 mlx5ep -j show
	for i in {0..7}; do
		is_context "$i" ".source == \"cgroup\" and .qps == 4 and
			.policy == \"${policies[i % 4]}\" and
			.managed == (if .policy == \"stock\" then 0 else 1 end)"
	done
	is_context 8 '.source == "device" and .policy == "shared-uuar"'
	jq -e '.devices[0].cgroups | length == 8' "$tmp/out"
	simhca-ctl dump >"$tmp/dump"
	for i in {0..7}; do
		[ "$(pages_of "$i")" = "${on_pages[i % 4]}" ] ||
			fail "job $i is on $(pages_of "$i") pages"
	done
	code 0 mlx5ep show
	awk 'length > 100 { exit 1 }' "$tmp/out"
}

start_jobs()
{
	local i

	for i in {0..8}; do
		mkdir -p "$tmp/cg/job$i/below"
		mkfifo "$tmp/end$i"
		[ "$i" = 8 ] || code 0 mlx5ep set --cgroup "/job$i" \
			--policy "${policies[i % 4]}" --pages $((4 + i))
	done
	# The eighth job runs in a child cgroup of its own cgroup.
	for i in {0..8}; do
		if [ "$i" = 7 ]; then
			job "$i" below/ &
		else
			job "$i" &
		fi
		pids+=($!)
	done
	wait_for 60 all_up || fail "jobs: $(cat "$tmp"/traffic*)"
}

end_jobs()
{
	local i

	for i in {0..8}; do
		echo >"$tmp/end$i"
	done
	for i in {0..8}; do
		wait "${pids[i]}"
	done
}

eight_jobs()
{
	local pids=()

	mkdir -p "$tmp/cg"
	mount -t cgroup2 none "$tmp/cg"
	ep_policy shared-uuar
	simhca-ctl reset >/dev/null
	start_jobs
	jobs_shown
	end_jobs
	hca_clean
	code 1 mlx5ep set --cgroup /nowhere --policy stock
	grep -q 'no such cgroup' "$tmp/err"
	code 0 mlx5ep set --cgroup /job0 --clear
	code 1 mlx5ep set --cgroup /job0 --clear
	code 0 mlx5ep set --cgroup /job0 --limit 9
	code 0 mlx5ep set --cgroup /job0 --clear --limit none
	[ -z "$(ep_get uar_cgroup_limits)" ]
	code 1 mlx5ep set --cgroup /job0 --clear --limit none
	rmdir "$tmp"/cg/job?/below "$tmp"/cg/job?
	code 0 mlx5ep -j show
	jq -e '.devices[0] | .cgroups == [] and .in_use == 0' "$tmp/out"
	umount "$tmp/cg"
	ep_policy stock
}

# notifiers FILTER: applies jq's FILTER to the program's notifiers in the tool's
# list
notifiers()
{
	mlx5ep -j show watches | jq -e --argjson pid $! '[.devices[0].watches[] |
		select(.pid == $pid and .comm == "pipeline")] | '"$1"
}

shows_notifiers()
{
	pipeline -b 65536 -f 65536 -m 1000000 -r 1 >"$tmp/pipeline" 2>&1 &
	wait_for 20 notifiers 'length > 0 and .[0].bytes > 0'
	kill $!
	wait $! || true
	wait_for 10 notifiers 'length == 0'
}

watches()
{
	code 0 mlx5ep show -n 0.1 -c 3 contexts
	[ "$(grep -c '^DEVICE' "$tmp/out")" = 3 ]
}

# sees FILTER: FILTER holds for the latest contexts that the running watch
# printed
sees()
{
	jq -es ".[-1].devices[0].contexts | $1" "$tmp/watch" >/dev/null 2>&1
}

shown_live()
{
	wait_for 30 sees 'any(.[]; .comm == "uuar_traffic" and .qps == 8)'
}

# One watch sees no program, then a program, then none. It ends at a signal.
watches_live()
{
	local pid

	mlx5ep -j show -n 0.1 contexts >"$tmp/watch" &
	pid=$!
	wait_for 30 sees 'length == 0'
	with_program shown_live
	wait_for 30 sees 'length == 0'
	kill -INT $pid
	wait $pid
}

# `plan` predicts the number of pages that the HCA then gives out.
plans_what_it_takes()
{
	local category pages first=0

	code 0 mlx5ep -j -d "$dev" plan -t 4
	cp "$tmp/out" "$tmp/plan"
	# The driver allocates now what it keeps until it is unloaded.
	msgrate -c static -t 1 -n 1 -R 1
	jq -e --argjson bar "$(stat -L -c %s \
		"/sys/class/infiniband/$dev/device/resource0")" \
		'.bar_bytes == $bar' "$tmp/plan"
	for category in mpi-everywhere 2xdynamic dynamic shared-dynamic static \
		mpi-threads; do
		pages=$(allocated msgrate -c "$category" -t 4 -n 8 -R 1)
		# msgrate runs mpi-everywhere, its first category, before each
		# other category.
		pages=$((pages - first))
		jq -e --argjson pages "$pages" --arg category "$category" \
			'.categories[] | select(.category == $category) |
			.uar_pages_per_process == $pages' "$tmp/plan" ||
			fail "$category took $pages pages"
		[ $first != 0 ] || first=$pages
	done
}

# allocated CMD...: prints how many UAR pages the HCA gave out while CMD ran
allocated()
{
	local before

	before=$(alloc_uars)
	"$@" >"$tmp/allocated"
	echo $(($(alloc_uars) - before))
}

alloc_uars()
{
	simhca-ctl dump | jq '.hcas[0].commands.ALLOC_UAR.count // 0'
}

plan 11
check "show: programs and QPs are where the HCA has them" shows_a_program
check "set: what was written before a failure is put back" undoes
check "show: no program makes up rows by its name" names
check "set: permission denied is exit code 5; show works without root" nobody
check "set --cgroup: eight jobs and one without a policy, side by side" \
	eight_jobs
check "show watches: a notifier while its program runs" shows_notifiers
check "watch: as often as told" watches
check "watch: a program that comes and goes is seen to" watches_live
check "doctor: nothing but the boot order is wrong here" doctor
check "attach: a device from before the module, refused while in use, attached after" preexisting_device
check "plan: the adapter's BAR, and the pages that it gives out" \
	plans_what_it_takes
ep_policy stock
ktap_finished
