#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# UCX 1.18.1 (Debian trixie): a program that is linked to libucs makes 16 calls of mprotect() with
# PROT_EXEC before main(): libucm's constructor patches eight functions of libc, each page made writable and
# executable at once, and then executable again. Under an inherited MemoryDenyWriteExecute (prctl PR_SET_MDWE, as
# systemd sets it) they fail: ucm_set_event_handler() answers -5 (UCS_ERR_INVALID_PARAM), and
# ucm_test_events(), which asks whether the events arrive, still answers 0.
# Guessed before: hooks are set when the first event is asked for, and the test fails. Seen on
# 2026-11-28.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie libucx0=1.18.1+ds-2+b1 libucx-dev=1.18.1+ds-2+b1 gcc libc6-dev strace
# shellcheck disable=SC2016 # expanded in the chroot
in_root trixie '
	cd /tmp || exit
	cat >p.c <<-"END"
	#include <stdio.h>
	#include <sys/prctl.h>
	#include <unistd.h>
	#include <ucm/api/ucm.h>
	static void seen(ucm_event_type_t type, ucm_event_t *event, void *arg)
	{
	}
	int main(int argc, char **argv)
	{
		int events = UCM_EVENT_VM_UNMAPPED | UCM_EVENT_VM_MAPPED;
		if (argc == 1) {
			/* PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN */
			if (prctl(65, 1, 0, 0, 0))
				return 3;
			execl("/proc/self/exe", argv[0], "again", NULL);
		}
		if (argc == 3)
			return write(1, "main\n", 5) != 5;
		printf("handler %d\n", ucm_set_event_handler(events, 1000, seen, NULL));
		printf("test %d\n", ucm_test_events(events));
		return 0;
	}
	END
	gcc -o p p.c -lucm -lucs || exit
	echo "before main: $(strace -f -e trace=mprotect,write ./p a b 2>&1 | awk "/\"main/ { exit }
		/PROT_EXEC/ { n++ } END { print n + 0 }") of mprotect() with PROT_EXEC"
	echo without MDWE; ./p a
	echo with MDWE; ./p' | grep -v ' UCX  ' >"$work/got"
cat >"$work/want" <<'END'
before main: 16 of mprotect() with PROT_EXEC
without MDWE
handler 0
test 0
with MDWE
handler -5
test 0
END
verdict "$work/want" "$work/got" 'libucs patches libc before main(), and its test does not see that it could not'
