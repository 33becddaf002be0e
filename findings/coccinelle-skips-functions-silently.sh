#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# coccinelle 1.3.0 (Debian trixie): spatch --very-quiet, as Linux' coccicheck calls it, passes over what
# it cannot parse and says nothing, with status 0: a function with scoped_guard() or asm goto, and
# after a declaration with __free(kfree) that function and all that follow it in the file.
# Guessed before: an error, or the rest of the file is parsed. Seen on 2026-11-28.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie coccinelle=1.3.0.deb-1+b2
# shellcheck disable=SC2016 # expanded in the chroot
in_root trixie '
	cd /tmp || exit
	cat >a.c <<-"END"
	int plain(void) { kfree(in_plain); return 0; }
	int guard(struct lock *lock)
	{
		scoped_guard(mutex, lock) {
			kfree(in_guard);
		}
		return 0;
	}
	int jump(void)
	{
		asm goto("jmp %l0" : : : : out);
		kfree(in_jump);
	out:
		return 0;
	}
	int between(void) { kfree(in_between); return 0; }
	int cleanup(void)
	{
		char *p __free(kfree) = make();

		kfree(in_cleanup);
		return 0;
	}
	int behind(void) { kfree(in_behind); return 0; }
	int last(void) { kfree(in_last); return 0; }
	END
	printf "%s\n" "@@ expression E; @@" "- kfree(E);" "+ freed(E);" >k.cocci
	spatch --very-quiet --sp-file k.cocci a.c >out 2>err
	echo "status $?, messages $(grep -c . err)"
	grep -o "freed(.*)" out' >"$work/got" || :
cat >"$work/want" <<'END'
status 0, messages 0
freed(in_plain)
freed(in_between)
END
verdict "$work/want" "$work/got" 'spatch 1.3.0 passes over five of seven functions without a word'
