# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What the tests live_* have in common: the device has registered and is in use, and the
# module is loaded and unloaded. Sourced after selftests/lib/lib.sh and modules.sh.

# shellcheck source=selftests/eth/nfs.sh
. selftests/eth/nfs.sh

other=mlx5_1
# shellcheck disable=SC2034 # nfs.sh serves and mounts there
address=10.44.0.1

# count NAME: how many lines or copies have passed
# shellcheck disable=SC2154 # lib.sh sets tmp
count()
{
	cat "$tmp/$1" 2>/dev/null || echo 0
}

# more_than COUNT NAME: have more passed?
more_than()
{
	[ "$(count "$2")" -gt "$1" ]
}

# goes_on NAME PID: the process that counts is the same, and data passes
goes_on()
{
	local before

	before=$(count "$1")
	kill -0 "$2" || fail "$(cat "$tmp/$1.log")"
	wait_for 20 more_than "$before" "$1"
}

# stream_start: IP between the HCAs, and a TCP connection over it that never stops
# shellcheck disable=SC2154 # lib.sh sets dev, tmp, link
stream_start()
{
	local peer_dev

	[ "$link" != ib ] || modprobe ib_ipoib
	wait_for 10 netdev_of "$dev" >/dev/null
	wait_for 10 netdev_of "$other" >/dev/null
	peer_dev=$(netdev_of "$other")
	ip netns add peer
	ip addr add $address/24 dev "$(netdev_of "$dev")"
	ip link set "$(netdev_of "$dev")" up
	ip link set "$peer_dev" netns peer
	ip -n peer addr add 10.44.0.2/24 dev "$peer_dev"
	ip -n peer link set "$peer_dev" up
	wait_for 20 ping -c 1 -W 1 10.44.0.2 >/dev/null
	ip netns exec peer selftests/eth/echo.py 10.44.0.2 7 &
	server=$!
	wait_for 10 ip netns exec peer sh -c 'ss -ltn | grep -q 10.44.0.2:7'
	selftests/attach/stream.py 10.44.0.2 7 "$tmp/lines" 2>"$tmp/lines.log" &
	stream=$!
	wait_for 20 more_than 0 lines
}

# copies: writes a file of the mount and reads it, past the cache, again and again
copies()
{
	local n

	for ((n = 1; ; n++)); do
		[ ! -e "$tmp/mount_end" ] || return 0
		head -c 200000 /dev/urandom >"$tmp/data"
		dd if="$tmp/data" of="$tmp/mount/file" bs=64k oflag=direct status=none
		dd if="$tmp/mount/file" bs=64k iflag=direct status=none | cmp - "$tmp/data"
		echo $n >"$tmp/copies.new"
		mv "$tmp/copies.new" "$tmp/copies"
	done
}

# mount_start: NFS over RDMA, on the address that stream_start has set, and data that
# passes over the mount. A kernel without it has no mount.
mount_start()
{
	mount=''
	modprobe -q -n rpcrdma || return 0
	modprobe -a nfsd nfsv4 rpcrdma
	nfs_serves
	nfs_mounts
	(set -e; copies) >"$tmp/copies.log" 2>&1 &
	mount=$!
	wait_for 20 more_than 0 copies
	connects=$(mount_connects)
	[ "$connects" -ge 1 ]
}

# mount_connects: how often the mount has connected, which is the second of the figures that
# the kernel counts of a transport behind its port. A mount connects again without a word.
mount_connects()
{
	awk '/xprt:[[:space:]]*rdma/ { print $5 }' /proc/self/mountstats
}

# mount_end: one result, whether the mount went on to the end
mount_end()
{
	if [ -z "$mount" ]; then
		ktap_test_skip 'the mount goes on: the kernel has no NFS over RDMA'
		return
	fi
	check 'the mount goes on' mount_goes_on
	touch "$tmp/mount_end"
	wait "$mount" || fail "$(cat "$tmp/copies.log")"
	nfs_ends
}

mount_goes_on()
{
	goes_on copies "$mount"
	[ "$(mount_connects)" = "$connects" ] || fail 'the mount has connected again'
}

# data_goes_on: the connection and the mount are the same, and data passes over both
data_goes_on()
{
	goes_on lines "$stream"
	[ -z "$mount" ] || mount_goes_on
}

stream_end()
{
	kill "$stream" "$server" 2>/dev/null || true
	wait "$stream" "$server" 2>/dev/null || true
	ip addr del $address/24 dev "$(netdev_of "$dev")" 2>/dev/null || true
	ip netns del peer 2>/dev/null || true
	[ "$link" != ib ] || wait_for 10 modprobe -q -r ib_ipoib || true
}

# left: ends what a test that failed has left, for the next one in the guest
# shellcheck disable=SC2317 # called by the trap
left()
{
	local -a children

	mapfile -t children < <(jobs -p)
	[ ${#children[@]} = 0 ] || kill "${children[@]}" 2>/dev/null || true
	! mountpoint -q "$tmp/mount" || umount -f -l "$tmp/mount"
	[ ! -e $nfsd/threads ] || { echo 0 >$nfsd/threads && umount $nfsd; } || true
	! mountpoint -q "$tmp/export" || umount -l "$tmp/export"
	[ -z "${stream:-}" ] || stream_end
	rm -rf --one-file-system "$tmp"
}
trap left EXIT

is_half()
{
	ep_get attached 2>/dev/null | grep -q '^policies, limits; the rest when ' &&
		[ -z "$(ep_get uverbs_ids)" ]
}

# unloads: rmmod succeeds as soon as the last managed context is closed
unloads()
{
	wait_for 30 rmmod mlx5_ep 2>"$tmp/rmmod" || fail "$(cat "$tmp/rmmod")"
}

# refs NUMBER: so many users keep the module from being unloaded
refs()
{
	[ "$(cat /sys/module/mlx5_ep/refcnt)" = "$1" ] ||
		fail "$(cat /sys/module/mlx5_ep/refcnt) users, not $1"
}

uverbs_goes()
{
	local name

	for name in rdma_ucm ib_uverbs; do
		[ ! -d /sys/module/$name ] || rmmod $name || return
	done
}

uverbs_comes()
{
	modprobe ib_uverbs
	wait_for 10 ls "/sys/class/infiniband/$dev/device/infiniband_verbs" >/dev/null
}

program()
{
	uuar_traffic -q -n 4 -r 1
}

# managed CONTEXTS: so many contexts are managed
managed()
{
	local count

	count=$(awk 'NR > 1 { n += $5 } END { print n + 0 }' \
		/sys/kernel/debug/mlx5_ep/*/contexts)
	[ "$count" = "$1" ]
}

# holds NAME: runs a program that keeps its QPs until the file NAME.end is there
holds()
{
	uuar_traffic -n 4 -r 1 -x "touch $tmp/$1; until [ -e $tmp/$1.end ]; do
		sleep 0.1; done" >/dev/null &
	# shellcheck disable=SC2034 # the tests wait for it
	pid=$!
	wait_for 30 [ -e "$tmp/$1" ]
}

ends()
{
	touch "$tmp/$1.end"
	wait "$2"
}
