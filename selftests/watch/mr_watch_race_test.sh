#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, timeout: 400
#
# While other threads remap memory, no registration may be called valid when the
# HCA reads other pages than the process has.
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/watch/race.sh
. selftests/watch/race.sh

# mr_watch_race_long has more.
rounds=$((4000 / slowness))
# On a debug kernel one round takes milliseconds.
words=$((slowness > 1 ? rounds : 50 * rounds))
plan 4
check "no stale hit in $rounds rounds" race_on "$rounds"
check 'stale hits with notification off' race_off 500
check "no stale word in $words rounds" race_on "$words" -w
check 'stale words with notification off' race_off 500 -w
ktap_finished
