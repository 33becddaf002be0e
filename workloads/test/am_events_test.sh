#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: events, smp: 2, mem: 2G, timeout: 120
#
# What happens in the middle of active messages: a process is killed, forks or unmaps
# what it writes to others, the policy changes, the device is unbound. Each request
# is handled once with the right bytes, or all processes have an error within
# seconds; nothing hangs, and nothing is left.

set -euo pipefail
cd "$(dirname "$0")/../.."
program=am_events
# shellcheck source=workloads/test/events.sh
. workloads/test/events.sh

plan 9
all_events
ktap_finished
