#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: tool, smp: 2, mem: 2G, kernels: 7.2, timeout: 200
#
# Containers of Debian's crun, which has packaging/oci/oci-hook as a hook of the stage
# createRuntime, in cgroups as kubelet makes them. The device stays stock. simhca says
# which UAR pages the stock programs in the containers rang.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

cgroups=/sys/fs/cgroup
pods=/kubepods.slice/kubepods-burstable.slice
hook=$tmp/oci-hook

# The mounts of a container are seen from here too.
end()
{
	crun delete --force lasting 2>/dev/null || :
	umount -R "$tmp/bundle/rootfs" 2>/dev/null || :
	rm -rf --one-file-system "$tmp"
}
trap end EXIT

# bundle: a root file system that has the guest's programs, and the adapter
bundle()
{
	local dir=$tmp/bundle name

	mountpoint -q $cgroups || mount -t cgroup2 none $cgroups
	mkdir -p "$dir/rootfs"/{usr,etc,proc,sys,dev,tmp,run} "$dir/rootfs$PWD"
	for name in bin lib lib64 sbin; do
		ln -s "usr/$name" "$dir/rootfs/$name"
	done
	sed "s|@BINDIR@|$PWD/build/bin|" packaging/oci/oci-hook >"$hook"
	chmod 755 "$hook"
	(cd "$dir" && crun spec && mv config.json spec.json)
}

# describe POD CMD...: the container's description, with the hook and its options
describe()
{
	local pod=$1

	shift
	jq --arg path "$pods/$pod/container" --arg here "$PWD" --arg hook "$hook" \
		--rawfile options "$tmp/options" '
		def bind: {source: ., destination: ., type: "bind",
			options: ["rbind", "rw"]};
		.process.terminal = false |
		.process.args = $ARGS.positional |
		.process.env = ["PATH=\($here)/build/bin:/usr/bin:/usr/sbin"] |
		.process.capabilities = {} |
		.process.rlimits = [{type: "RLIMIT_MEMLOCK", hard: 67108864,
			soft: 67108864}] |
		.root.readonly = true |
		.linux.cgroupsPath = $path |
		.linux.resources = {} |
		.linux.namespaces |= map(select(.type != "cgroup")) |
		.annotations = {"pid": "1", "note": "\"pid\": 1"} |
		.mounts |= map(select(.destination | IN("/proc", "/dev"))) +
			(["/usr", "/etc", "/sys", "/dev/infiniband", $here] |
			map(bind)) |
		.hooks.createRuntime = [{path: $hook, args: (["oci-hook"] +
			($options | split("\n") | map(select(. != ""))))}]' \
		"$tmp/bundle/spec.json" --args -- "$@" >"$tmp/bundle/config.json"
}

# options OPTION...: the hook's
options()
{
	printf '%s\n' "$@" >"$tmp/options"
}

# contained POD CMD...: runs CMD in a container; its output is in $tmp/said
contained()
{
	describe "$@" || fail 'no description'
	crun --cgroup-manager=cgroupfs run --bundle "$tmp/bundle" short \
		>"$tmp/said" 2>&1
}

# rings PAGES CMD...: CMD rings that many UAR pages of users
rings()
{
	local pages

	simhca-ctl reset >/dev/null
	"${@:2}" || fail "$*: $(cat "$tmp/said")"
	pages=$(hca_pages_rung)
	[ "$pages" = "$1" ] || fail "$pages pages, not $1: $(cat "$tmp/said")"
}

# The first four QPs of a stock context are on two pages.
a_policy()
{
	options --policy stock
	rings 2 contained a.slice uuar_traffic -q -n 4
	options --policy independent --pages 8
	rings 4 contained a.slice uuar_traffic -q -n 4
	contained a.slice cat /proc/self/cgroup "$ep/uuar_cgroups"
	cat "$tmp/said"
	grep -qx "0::$pods/a.slice/container" "$tmp/said"
	grep -qx "$pods/a.slice/container independent 0 8" "$tmp/said"
}

# A program with one QP holds more than one page.
a_limit()
{
	options --limit 1
	! contained b.slice uuar_traffic -q -n 1 || fail 'no limit'
	grep 'Disk quota exceeded' "$tmp/said"
	options --limit 64
	contained b.slice uuar_traffic -q -n 1
	hca_clean
}

# The first container's hook has set it for the second, which has no hook.
a_pod()
{
	options --limit 1 --pod
	contained c.slice cat "$ep/uar_cgroup_limits"
	cat "$tmp/said"
	grep -qx "$pods/c.slice 1" "$tmp/said"
	options --help
	! contained c.slice uuar_traffic -q -n 1 || fail 'no limit'
	grep 'Disk quota exceeded' "$tmp/said"
	options --limit 64 --pod
	contained c.slice uuar_traffic -q -n 1
}

# pod_is POD PATH: the cgroup of a pod, of which a container is in PATH
pod_is()
{
	[ "$(pod_of "$2")" = "$1" ] || fail "$2: $(pod_of "$2"), not $1"
}

# systemd's cgroups, with crun and with runc; those of the driver cgroupfs
pod_paths()
{
	local node=/system.slice/docker-1.scope/kubelet/kubepods/pod1

	eval "$(sed -n '/^pod_of()/,/^}/p' packaging/oci/oci-hook)"
	pod_is $pods/c.slice $pods/c.slice/crio-1.scope/container
	pod_is $pods/c.slice $pods/c.slice/cri-containerd-1.scope
	pod_is $pods/c.slice $pods/c.slice/container
	pod_is /kubepods/burstable/pod1 /kubepods/burstable/pod1/1
	pod_is $node $node/1
}

# set_now: prints what is set for cgroups of pods
set_now()
{
	cat "$ep/uuar_cgroups" "$ep/uar_cgroup_limits" | grep "^$pods"
}

# The settings of a container that is killed go with its cgroup.
gone_when_killed()
{
	options --policy independent --limit 5
	describe d.slice sleep 1000
	crun --cgroup-manager=cgroupfs run --detach --bundle "$tmp/bundle" lasting \
		3>&- >"$tmp/said" 2>&1
	set_now >"$tmp/before"
	cat "$tmp/said" "$tmp/before"
	grep -qx "$pods/d.slice/container 5" "$tmp/before"
	crun kill lasting KILL
	wait_for 10 crun delete lasting
	! set_now | grep "$pods/d.slice" || fail 'something is set'
	hca_clean
}

# A value that the tool does not take: the container runs, unless that is required.
not_required()
{
	options --policy fastest
	contained e.slice echo runs
	grep -qx runs "$tmp/said"
	options --policy fastest --require
	! contained e.slice echo runs || fail 'it runs'
	! grep -qx runs "$tmp/said" || fail 'it runs'
}

# hooked STATE CODE OPTION...
hooked()
{
	local state=$1

	code "$2" "$hook" "${@:3}" <<<"$state"
}

usage()
{
	local me="{\"annotations\": {\"a\": \"\\\"pid\\\": 1\"}, \"pid\": $$}"

	hooked '' 0 --help
	grep -q 'usage: oci-hook' "$tmp/out"
	hooked '' 0 --nonsense
	grep -q 'nonsense: no such option' "$tmp/err"
	hooked '' 1 --nonsense --require
	hooked '' 1 --require --limit
	hooked "$me" 1 --require
	grep -q 'nothing to set' "$tmp/err"
	hooked '{"id": "x"}' 1 --limit 4 --require
	grep -q 'no pid of a container' "$tmp/err"
	hooked '{"pid": 99999999}' 1 --limit 4 --require
	grep -q 'process 99999999 of the container has ended' "$tmp/err"
	[ "$(cat /proc/self/cgroup)" = 0::/ ] || fail "$(cat /proc/self/cgroup)"
	hooked "$me" 1 --limit 4 --require
	grep -q 'is that of the node' "$tmp/err"
	! grep '^/ ' "$ep/uar_cgroup_limits" || fail 'a limit is set'
}

ep_policy stock
plan 8
check 'there is a bundle' bundle
check 'the policy of a container' a_policy
check 'the limit of a container' a_limit
check 'a limit for the containers of a pod' a_pod
check 'the cgroup of a pod, with systemd and without' pod_paths
check 'a container that is killed leaves no setting' gone_when_killed
check 'what cannot be set, not required and required' not_required
check 'bad usage, no container, the cgroup of the node' usage
rmdir $cgroups$pods/*.slice "$cgroups$pods" "$cgroups${pods%/*}" 2>/dev/null || :
ktap_finished
