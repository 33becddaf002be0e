#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# MPICH 4.3.0+really4.2.1-1 (Debian trixie, mpiexec.hydra): the status of mpiexec is the bitwise OR of
# what the ranks ended with, numbers of signals among them. A rank that fails with 1 or 4 disappears
# beside one that says 77 ("skipped"), and 1 beside 124 ("timed out") is 125. Where one rank aborts
# (signal 6), mpiexec kills the others (signal 9), and it tells the user of 15: "Terminated (signal 15)",
# a signal that no process got. The status of a rank that a signal ended is 15 as well, not 128 + 15.
# Guessed before: the first status that is not 0, or the greatest one, and the signal of the rank
# that failed. Seen on 30 November 2026.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie mpich=4.3.0+really4.2.1-1
# shellcheck disable=SC2016 # expanded in the chroot
alone=yes in_root trixie '
	ranks() {
		timeout 60 mpiexec.hydra -n 1 sh -c "$1" : -n 1 sh -c "$2" >/tmp/out 2>&1
		echo "$1, $2: status $?" $(sed -n "s/.*EXIT STRING: //p" /tmp/out)
	}
	ranks "exit 1" "exit 2"
	ranks "exit 77" "exit 1"
	ranks "exit 4" "exit 77"
	ranks "exit 124" "exit 1"
	ranks "kill -ABRT \$\$" "exec sleep 50"
	ranks "exec sleep 50" "kill -ABRT \$\$"' >"$work/got"
cat >"$work/want" <<'END_OF_LINES'
exit 1, exit 2: status 3
exit 77, exit 1: status 77
exit 4, exit 77: status 77
exit 124, exit 1: status 125
kill -ABRT $$, exec sleep 50: status 15 Terminated (signal 15)
exec sleep 50, kill -ABRT $$: status 15 Terminated (signal 15)
END_OF_LINES
verdict "$work/want" "$work/got" 'mpiexec of MPICH ends with the OR of the statuses of its ranks'
