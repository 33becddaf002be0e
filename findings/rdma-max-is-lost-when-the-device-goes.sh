#!/usr/bin/env bash
#
# Debian's kernels 6.12.117-1 and 7.3.4-1~bpo13+1 (amd64), rdma_rxe, iproute2 7.3.0-1: a
# limit in rdma.max of a cgroup is written by the name of a device, and belongs to the device.
# It follows the device to another name. It goes with the device, as when a driver is loaded
# again: the device of the same name that comes then has no limit in any cgroup, and nothing
# says so. On 7.3 the counts in rdma.peak and rdma.events, which 6.12 has not, go too. Seen on
# 30 November 2026:
#
#    6.12.117: set: rxe0 hca_handle=2 hca_object=3
#    6.12.117: renamed: rxe5 hca_handle=2 hca_object=3
#    6.12.117: gone:
#    6.12.117: the same name: rxe5 hca_handle=max hca_object=max
#    7.3.4: refused: rxe0 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=1 hca_object.alloc_fail=1
#    7.3.4: the same name: rxe5 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=0 hca_object.alloc_fail=0
#
# and the first four lines on 7.3.4, too.
set -euo pipefail
# shellcheck source=/dev/null
. "$(dirname "$0")/lib/guest.sh"

guest_setup sid 'linux-image-7.3.4+deb13-amd64=7.3.4-1~bpo13+1' \
	'linux-image-6.12.117+deb13-amd64=6.12.117-1' -- \
	ibverbs-providers=65.0-1.1 ibverbs-utils=65.0-1.1 iproute2=7.3.0-1

guest_run_each 6.12.117 7.3.4 <<'GUEST'
rxe_on
cd /sys/fs/cgroup
echo +rdma >cgroup.subtree_control
mkdir a
echo 'rxe0 hca_handle=2 hca_object=3' >a/rdma.max
echo "set: $(cat a/rdma.max)"
# A protection domain, a registration and a completion queue; the queue pair is refused.
(echo $BASHPID >a/cgroup.procs && exec ibv_rc_pingpong -d rxe0 -g 1 >/dev/null 2>&1) ||
	echo "a program: exit status $?"
[ ! -e a/rdma.events ] || echo "refused: $(cat a/rdma.events)"
rdma dev set rxe0 name rxe5
echo "renamed: $(cat a/rdma.max)"
rdma link del rxe5
echo "gone: $(cat a/rdma.max)"
rdma link add rxe5 type rxe netdev v0
echo "the same name: $(cat a/rdma.max)"
[ ! -e a/rdma.events ] || echo "the same name: $(cat a/rdma.events)"
GUEST
guest_same 'what becomes of a limit' <<'END'
6.12.117: set: rxe0 hca_handle=2 hca_object=3
6.12.117: a program: exit status 1
6.12.117: renamed: rxe5 hca_handle=2 hca_object=3
6.12.117: gone:
6.12.117: the same name: rxe5 hca_handle=max hca_object=max
7.3.4: set: rxe0 hca_handle=2 hca_object=3
7.3.4: a program: exit status 1
7.3.4: refused: rxe0 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=1 hca_object.alloc_fail=1
7.3.4: renamed: rxe5 hca_handle=2 hca_object=3
7.3.4: gone:
7.3.4: the same name: rxe5 hca_handle=max hca_object=max
7.3.4: the same name: rxe5 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=0 hca_object.alloc_fail=0
END

verdict 'a device that goes takes its limits out of all cgroups, and its name brings none back'
