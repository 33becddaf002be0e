#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# `rdma resource show qp` of iproute2 6.15.0 (Debian trixie, kernel 6.12.117-1): the kernel's
# answer has the number of the process of a QP, and no name. rdma opens /proc/NUMBER/comm when it
# prints the row. So "comm" is what /proc has for that number at that moment: missing for the
# programs of others where /proc is mounted with hidepid=2 (the number is shown all the same,
# with status 0 and no message), and another name where another /proc is mounted (here by a bind
# mount). Guessed before: name and number come together, from the kernel. Seen on 29 November
# 2026.
set -euo pipefail
# shellcheck source=/dev/null
. "$(dirname "$0")/lib/guest.sh"

guest_setup trixie 'linux-image-6.12.117+deb13-amd64=6.12.117-1' -- \
	ibverbs-providers=56.1-1 ibverbs-utils=56.1-1 iproute2=6.15.0-1 jq

guest_run '6.12.117+deb13-amd64' <<'GUEST'
rxe_on
ibv_rc_pingpong -d rxe0 -g 1 >/dev/null 2>&1 &
pid=$!
for ((i = 0; i < 100; i++)); do
	! rdma resource show qp | grep -q "pid $pid " || break
	sleep 0.1
done
# rows: the rows of that process, with its number as PID
rows()
{
	rdma -j resource show qp >/tmp/out 2>&1
	echo "status $?"
	jq -c ".[] | select(.pid == $pid) | {type, pid: \"PID\", comm}" /tmp/out
}
export -f rows
export pid
rows
echo '/proc with hidepid=2, another user:'
chmod 755 /share
unshare -m bash -c 'mount -o remount,hidepid=2 /proc
	setpriv --reuid 65534 --regid 65534 --clear-groups bash -c "
		rdma -j resource show qp" >/tmp/out; echo "status $?"
	jq -c ".[] | select(.pid == $pid) | {type, pid: \"PID\", comm}" /tmp/out'
mount -o remount,hidepid=0 /proc
echo '/proc with another name for this number:'
mkdir -p "/tmp/proc/$pid"
echo another >"/tmp/proc/$pid/comm"
unshare -m bash -c 'mount --bind /tmp/proc /proc; rdma -j resource show qp' >/tmp/out
jq -c ".[] | select(.pid == $pid) | {type, pid: \"PID\", comm}" /tmp/out
kill "$pid"
GUEST
guest_same 'the name of a program' <<'END'
status 0
{"type":"RC","pid":"PID","comm":"ibv_rc_pingpong"}
/proc with hidepid=2, another user:
status 0
{"type":"RC","pid":"PID","comm":null}
/proc with another name for this number:
{"type":"RC","pid":"PID","comm":"another"}
END

verdict 'rdma 6.15 takes the name of a program from /proc when it prints, and leaves it out where it cannot'
