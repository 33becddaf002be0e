#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# `rdma -j system show` of iproute2 6.15.0 (Debian trixie, kernel 6.12.117-1) prints plain text and ends with 0. The
# other `show` commands print JSON with -j: of devices, links, resources and counters. A program that reads the mode of
# network namespaces ("netns shared") by a JSON parser fails on a status of 0, and -p and -d change nothing.
# Guessed before: -j is an option of all commands of rdma(8), as its page says. Seen on 2026-11-30.
set -euo pipefail
# shellcheck source=/dev/null
. "$(dirname "$0")/lib/guest.sh"

guest_setup trixie 'linux-image-6.12.117+deb13-amd64=6.12.117-1' -- \
	ibverbs-providers=56.1-1 ibverbs-utils=56.1-1 iproute2=6.15.0-1 jq

guest_run '6.12.117+deb13-amd64' <<'GUEST'
rxe_on
for options in -j -jd -jp; do
	for what in 'dev show' 'link show' 'resource show' 'resource show qp' 'resource show cq' \
		'statistic show' 'system show'; do
		rdma $options $what >/tmp/out 2>/tmp/errors
		status=$?
		# jq takes nothing for JSON too.
		[ ! -s /tmp/errors ] && [ -s /tmp/out ] || echo "no output"
		json=JSON
		jq . /tmp/out >/dev/null 2>&1 || json=$(cat /tmp/out)
		echo "rdma $options $what: $status, $json"
	done
done
GUEST
guest_same 'what -j prints' <<'END'
rdma -j dev show: 0, JSON
rdma -j link show: 0, JSON
rdma -j resource show: 0, JSON
rdma -j resource show qp: 0, JSON
rdma -j resource show cq: 0, JSON
rdma -j statistic show: 0, JSON
rdma -j system show: 0, netns shared privileged-qkey off monitor on copy-on-fork on
rdma -jd dev show: 0, JSON
rdma -jd link show: 0, JSON
rdma -jd resource show: 0, JSON
rdma -jd resource show qp: 0, JSON
rdma -jd resource show cq: 0, JSON
rdma -jd statistic show: 0, JSON
rdma -jd system show: 0, netns shared privileged-qkey off monitor on copy-on-fork on
rdma -jp dev show: 0, JSON
rdma -jp link show: 0, JSON
rdma -jp resource show: 0, JSON
rdma -jp resource show qp: 0, JSON
rdma -jp resource show cq: 0, JSON
rdma -jp statistic show: 0, JSON
rdma -jp system show: 0, netns shared privileged-qkey off monitor on copy-on-fork on
END

verdict 'rdma 6.15 has no JSON for the settings of the subsystem, and ends with 0'
