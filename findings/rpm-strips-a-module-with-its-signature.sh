#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# rpmbuild of rpm 4.20.1 (Debian trixie) strips a kernel module that a package only installs (mode
# 0644, not executable), and cuts off the signature behind it, where the command `file` is
# installed; where it is not, the module stays as it was. The status is 0 and the log says the same
# in both cases. So the same spec gives a package that Secure Boot takes on one machine and not on the other.
# Guessed before: only executables and libraries are stripped, and a missing `file` is an error.
# Seen on 2026-11-28.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie rpm=4.20.1+dfsg-3 file=1:5.46-5 gcc libc6-dev
# shellcheck disable=SC2016 # expanded in the chroot
in_root trixie '
	mkdir -p /tmp/r/SOURCES
	cd /tmp || exit
	echo "int x = 1;" | gcc -g -x c -c -o toy.ko - || exit
	# What the kernel looks for at the end of a signed module.
	printf "%s\n" "a signature~Module signature appended~" >>toy.ko
	cp toy.ko r/SOURCES
	cat >toy.spec <<-"END"
	Name: toy
	Version: 1
	Release: 1
	Summary: a module
	License: GPL-2.0
	Source0: toy.ko
	%description
	A module.
	%install
	install -D -m 0644 %{SOURCE0} %{buildroot}/lib/modules/9/extra/toy.ko
	%files
	/lib/modules/9/extra/toy.ko
	END
	for file in with without; do
		[ "$file" = with ] || mv /usr/bin/file /file
		rm -rf r/RPMS
		rpmbuild --define "_topdir /tmp/r" -bb toy.spec >log 2>&1
		echo "$file file: status $?, log names the module $(grep -c "toy\.ko:" log) times," \
			"the same bytes $([ "$(rpm -qp --qf "[%{FILEDIGESTS}]" r/RPMS/*/toy-1-1.*.rpm 2>/dev/null)" = \
				"$(sha256sum <toy.ko | cut -d" " -f1)" ] && echo yes || echo no)"
		echo "signatures: $(rpm2archive -n r/RPMS/*/toy-1-1.*.rpm |
			tar -xOf - ./lib/modules/9/extra/toy.ko | grep -ac "Module signature appended")"
	done' >"$work/got" || :
cat >"$work/want" <<'END'
with file: status 0, log names the module 0 times, the same bytes no
signatures: 0
without file: status 0, log names the module 0 times, the same bytes yes
signatures: 1
END
verdict "$work/want" "$work/got" 'rpmbuild 4.20.1 strips a module and its signature, if the command file is there'
