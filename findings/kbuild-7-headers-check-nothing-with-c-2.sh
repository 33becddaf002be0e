#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Debian's headers of Linux 7.2.12 and sparse 0.6.4 (trixie-backports, trixie): `make C=2` of an external module,
# with sparse installed, says "sparse is not available or not up to date", builds, and ends with 0. No file is
# checked. From 7.x on Kbuild asks scripts/checker-valid.sh before it calls sparse. The packages lack that script, so
# that no sparse at all would do. KBUILD_CHECKSRC=2 on the command line calls sparse although the same is said, and
# 0.6.4 then takes words of these headers for mistakes, does not come to the module's own one, and the build ends with
# 0 all the same. The headers of 6.12.117 ask nothing, and the mistake is found.
# Guessed before: C=2 with a sparse that is there checks, or the build fails. Seen on 2026-11-30.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie-backports linux-headers-6.12.117+deb13-amd64 linux-headers-7.2.12+deb13-amd64 \
	sparse=0.6.4-5 make
# shellcheck disable=SC2016 # expanded in the chroot
in_root trixie-backports '
	mkdir /tmp/toy && cd /tmp/toy || exit
	echo "obj-m := toy.o" >Makefile
	cat >toy.c <<-"END"
	#include <linux/module.h>
	static int __user *there;
	static int toy_init(void) { return there == (int *)8; }
	module_init(toy_init);
	MODULE_LICENSE("GPL");
	END
	# of KERNEL ARGUMENT: builds the module, and counts what was said
	of() {
		make -C "/lib/modules/$1/build" M=/tmp/toy clean >/dev/null
		make -C "/lib/modules/$1/build" M=/tmp/toy "$2" modules >/tmp/log 2>&1
		echo "$1 $2: status $?, files checked $(grep -c "  CHECK  " /tmp/log)," \
			"address spaces $(grep -c "toy.c.*different address spaces" /tmp/log)"
		grep -o "checker-valid.sh: .*" /tmp/log
		grep -o "C=2 specified.*" /tmp/log
		! grep -q "error: Expected ) at end of cast operator" /tmp/log ||
			echo "sparse does not know a cast of these headers"
	}
	of 6.12.117+deb13-amd64 C=2
	of 7.2.12+deb13-amd64 C=2
	of 7.2.12+deb13-amd64 KBUILD_CHECKSRC=2
	find /usr/lib/linux-kbuild-*/ /usr/src/linux-headers-*/ -name "checker-valid*"' >"$work/got"
cat >"$work/want" <<'END'
6.12.117+deb13-amd64 C=2: status 0, files checked 1, address spaces 1
7.2.12+deb13-amd64 C=2: status 0, files checked 0, address spaces 0
checker-valid.sh: No such file or directory
C=2 specified, but sparse is not available or not up to date
7.2.12+deb13-amd64 KBUILD_CHECKSRC=2: status 0, files checked 1, address spaces 0
checker-valid.sh: No such file or directory
C=2 specified, but sparse is not available or not up to date
sparse does not know a cast of these headers
END
verdict "$work/want" "$work/got" 'make C=2 checks nothing with the headers of 7.2 that Debian has'
