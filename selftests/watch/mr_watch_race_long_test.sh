#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, timeout: 28000, long: yes
#
# Runs mr_watch_race_test.sh for much longer.
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/watch/race.sh
. selftests/watch/race.sh

plan 4
check 'no stale hit in 1 million rounds' race_on 1000000 -p
check 'no stale word in 1 million rounds' race_on 1000000 -w -p
check 'no stale word in 10 million rounds' race_on 10000000 -w -p
check 'stale hits with notification off' race_off 2000
ktap_finished
