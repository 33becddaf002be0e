#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 900
#
# The Debian packages hold all that make install installs. They install with
# dpkg, DKMS builds the module when they are configured, and they work. Removing
# them leaves nothing.
#
# The test runs in the lab's root file system. What a test writes there is
# dropped at the end, but other tests of the same run share it.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
disposable

version=0.9.0+3.gabcdef0
packages='libmlx5ep0 libmlx5ep-fi0 libmlx5ep-dev libmlx5ep-fi-dev libmlx5ep-ucx0
	mlx5ep-tools mlx5ep-tests mlx5-ep-dkms'
kernel=$(cd /lib/modules && printf "%s\n" 7.2.* | sort -V | tail -n1)

# without_lintian: a machine that has it not says so, and builds
without_lintian()
{
	mkdir "$tmp/few"
	ln -s /usr/bin/* "$tmp/few/"
	rm -f "$tmp"/few/{lintian,dpkg-checkbuilddeps,dpkg-buildpackage}
	ln -s /bin/true "$tmp/few/dpkg-checkbuilddeps"
	ln -s /bin/true "$tmp/few/dpkg-buildpackage"
	code 0 env PATH="$tmp/few" packaging/debian/build $version
	grep -Fx 'packaging/debian/build: lintian is missing, so nothing has read the packages: apt install lintian' \
		"$tmp/err"
}

# old_ucx: makes UCX's headers and its version be as those of Debian 12, which lack a name
old_ucx()
{
	mkdir -p "$tmp"/old/include/ucp/api
	sed '/UCP_FEATURE_EXPORTED_MEMH *=/d' /usr/include/ucp/api/ucp.h \
		>"$tmp/old/include/ucp/api/ucp.h"
	printf '%s\n' 'Name: ucx' 'Description: a test' 'Version: 1.13.1' >"$tmp/old/ucx.pc"
}

# There the packages are those that can be built.
older_ucx()
{
	old_ucx
	code 0 env PKG_CONFIG_PATH="$tmp/old" C_INCLUDE_PATH="$tmp/old/include" \
		packaging/debian/build $version
	[ "$(grep -c '\.deb$' "$tmp/out")" = 7 ]
	must_fail grep ucx "$tmp/out"
	grep -Fx 'packaging/debian/build: without libmlx5ep-ucx0, as UCX is older than 1.17' \
		"$tmp/err"
}

# What is missing is named, with the command that installs it.
build_depends()
{
	mkdir "$tmp/lacks"
	printf '#!/bin/sh\necho "Unmet build dependencies: libnl-3-dev"\nexit 1\n' \
		>"$tmp/lacks/dpkg-checkbuilddeps"
	chmod +x "$tmp/lacks/dpkg-checkbuilddeps"
	code 1 env PATH="$tmp/lacks:$PATH" packaging/debian/build $version
	grep -qx 'Unmet build dependencies: libnl-3-dev' "$tmp/err"
	grep -Fx "packaging/debian/build: apt build-dep $PWD/build/deb/mlx5-ep-$version" "$tmp/err"
}

build()
{
	packaging/debian/build $version >"$tmp/debs"
	[ "$(wc -l <"$tmp/debs")" = 8 ]
	[ -e build/deb/lintian.log ]
	grep -h . build/deb/lintian.log || echo 'lintian: nothing to say'
}

# DKMS is to build for one kernel only, so the other kernels' headers are
# hidden.
hide_other_kernels()
{
	local dir

	for dir in /lib/modules/*; do
		[ "${dir##*/}" = "$kernel" ] ||
			mv "$dir/build" "$dir/hidden"
	done
}

show_other_kernels()
{
	local dir

	for dir in /lib/modules/*; do
		[ ! -e "$dir/hidden" ] || mv "$dir/hidden" "$dir/build"
	done
}

# stand_ins: the kernel has an initramfs that holds mlx5_ib, and what makes it again
# is written down
stand_ins()
{
	mkdir -p "$tmp"/{bin,boot,modules/"$kernel"}
	printf '#!/bin/sh\ncat "$1"\n' >"$tmp/bin/lsinitramfs"
	cat >"$tmp/bin/update-initramfs" <<-END
	#!/bin/sh
	[ "\$*" != --version ] || exec echo initramfs-tools
	echo "\$@" >>"$tmp/renewed"
	END
	chmod +x "$tmp"/bin/*
	echo usr/lib/modules/x/kernel/mlx5_ib.ko.xz >"$tmp/boot/initrd.img-$kernel"
	export PATH=$tmp/bin:$PATH BOOT=$tmp/boot MODULES=$tmp/modules
}

# renewed: the initramfs was made anew by the package, and by the trigger of dpkg for
# the folder of hooks
renewed()
{
	[ "$(sort "$tmp/renewed")" = $'-u\n'"-u -k $kernel" ] || fail "$(cat "$tmp/renewed")"
}

# A kernel whose headers lack a file: the module cannot be built.
build_fails()
{
	local header=/lib/modules/$kernel/source/include/rdma/ib_verbs.h

	hide_other_kernels
	mv "$header" "$header.hidden"
	# shellcheck disable=SC2046 # a list
	code 1 dpkg -i $(cat "$tmp/debs")
	mv "$header.hidden" "$header"
	[ "$(grep -h '^mlx5-ep-dkms: ' "$tmp/out" "$tmp/err")" = \
		"mlx5-ep-dkms: mlx5_ep was not built: devices are stock from the next \
boot; see /var/lib/dkms/mlx5_ep/$version/build/make.log" ]
	renewed
}

install_all()
{
	: >"$tmp/renewed"
	dpkg --configure -a
	cat "$tmp/renewed"
	renewed
	# shellcheck disable=SC2086
	[ "$(dpkg-query -Wf '${db:Status-Status}\n' $packages | sort -u)" = \
		installed ]
}

module_built()
{
	dkms status mlx5_ep -k "$kernel" | grep installed
	modinfo -k "$kernel" -F filename mlx5_ep | grep updates/dkms
	modprobe -S "$kernel" --showconfig | grep 'softdep mlx5_ib pre: mlx5_ep'
}

# kernel_without RELEASE CONFIG: DKMS skips that kernel, which is not an error
kernel_without()
{
	local status=0

	mkdir -p "/lib/modules/$1/build"
	echo "$2" >"/lib/modules/$1/build/.config"
	dkms build "mlx5_ep/$version" -k "$1" || status=$?
	rm -r "/lib/modules/$1"
	[ $status = 77 ]
}

other_kernels()
{
	kernel_without 5.10.0-old 'CONFIG_MLX5_INFINIBAND=m'
	kernel_without 7.2.0-without '# CONFIG_MLX5_INFINIBAND is not set'
}

# kernel_with_make RELEASE LINE: an installed kernel that has what DKMS asks for, whose
# build of modules fails, and prints LINE
kernel_with_make()
{
	mkdir -p "/lib/modules/$1/build/include"
	sed -n 's/^BUILD_EXCLUSIVE_CONFIG="\(.*\)"/\1/p' dkms.conf | tr ' ' '\n' |
		sed 's/$/=y/' >"/lib/modules/$1/build/.config"
	printf 'modules clean:\n\t@echo "%s" >&2; false\n' "$2" \
		>"/lib/modules/$1/build/Makefile"
}

# installs RELEASE: dpkg's hooks for a new kernel succeed, and make its initramfs
installs()
{
	: >"$tmp/renewed"
	run-parts --report --exit-on-error "--arg=$1" "--arg=/boot/vmlinuz-$1" \
		/etc/kernel/postinst.d
	grep -e "-k $1" "$tmp/renewed"
	! modinfo -k "$1" mlx5_ep
}

# A kernel for which the module cannot be built is installed all the same. Where the
# kernel lacks something, that is no error at all; else a build by hand fails.
new_kernels()
{
	local log=/var/lib/dkms/mlx5_ep/$version/build/make.log

	kernel_with_make 5.10.0-lacks 'mlx5_ep: this kernel lacks a bus'
	kernel_with_make 9.9.0-new 'error: implicit declaration'
	installs 5.10.0-lacks
	grep -x 'mlx5_ep: this kernel lacks a bus' $log
	installs 9.9.0-new
	grep -x 'error: implicit declaration' $log
	code 77 dkms build "mlx5_ep/$version" -k 5.10.0-lacks
	code 10 dkms build "mlx5_ep/$version" -k 9.9.0-new
	rm -r /lib/modules/{5.10.0-lacks,9.9.0-new}
}

# The packages hold the same files as make install without packages.
same_as_make_install()
{
	make -s install DESTDIR="$tmp/root" PREFIX=/usr \
		LIBDIR="/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)" \
		RPATH= DOCDIR=/usr/share/doc/mlx5ep-tools \
		BUILD_VERSION=$version >/dev/null
	rm "$tmp/root/var/lib/mlx5_ep/installed"
	# The names come from dpkg's list, because the lab's dpkg installs no
	# manual pages.
	(cd "$tmp/root" && find . ! -type d -printf '/%P\n') |
		sed '/\/man\//s/$/.gz/' | sort >"$tmp/wanted"
	# shellcheck disable=SC2086
	dpkg -L $packages | sort -u >"$tmp/got"
	[ -s "$tmp/wanted" ]
	comm -23 "$tmp/wanted" "$tmp/got" >"$tmp/missing"
	cat "$tmp/missing"
	[ ! -s "$tmp/missing" ]
	links_lead_to_pages
}

# Each link of a page leads to a page or a picture that is installed with it.
links_lead_to_pages()
{
	local page link

	cd "$tmp/root/usr/share/doc/mlx5ep-tools"
	for page in *.md Documentation/*.md; do
		grep -o '](\(\.\./\)\?[A-Za-z][^):# ]*[)#]' "$page" |
			sed "s|^](|${page%"${page##*/}"}|; s|[)#]\$||" || :
	done >"$tmp/links"
	grep -qx Documentation/pictures/demo.svg "$tmp/links"
	sort -u "$tmp/links" | while read -r link; do
		[ -e "$link" ] || fail "no $link"
	done
}

# shellcheck disable=SC2086
depends()
{
	dpkg-query -Wf '${Package}: ${Depends}\n' $packages
	dpkg-query -Wf '${Depends}' mlx5ep-tools |
		grep -F "libmlx5ep0 (= $version)"
	# What is preloaded brings nothing of what it serves.
	! dpkg-query -Wf '${Depends}' libmlx5ep-ucx0 libmlx5ep-fi0 |
		grep -e libucx -e libfabric -e verbs -e libmlx5ep0 || return 1
	dpkg-query -Wf '${Suggests}' mlx5ep-tools |
		grep -x 'libmlx5ep-ucx0, mlx5ep-tests'
	grep -F "libmlx5ep0 #MINVER#" /var/lib/dpkg/info/libmlx5ep0*.symbols
	! dpkg-query -Wf '${Depends}' libmlx5ep0 | grep fabric || return 1
	! dpkg-query -Wf '${Depends}' libmlx5ep-dev | grep -e fabric -e -fi || return 1
	dpkg-query -Wf '${Depends}' mlx5ep-tests |
		grep -F "mlx5ep-tools (= $version)"
	dpkg-query -Wf '${Depends}' mlx5-ep-dkms | grep dkms
	dpkg-query -Wf '${Recommends}' mlx5-ep-dkms | grep openssl
}

works()
{
	env -i PATH=/usr/bin:/bin mlx5ep --version | grep -F "$version"
	cat >"$tmp/prog.c" <<-END
	#include <mlx5ep.h>
	#include <mlx5ep/fi_monitor.h>
	int main(void)
	{
		struct mlx5ep_fi_monitor_stats stats;

		mlx5ep_fi_monitor_query(&stats);
		return mlx5ep_category_name(0) == NULL;
	}
	END
	# shellcheck disable=SC2046
	cc -o "$tmp/prog" "$tmp/prog.c" $(pkg-config --cflags --libs mlx5ep \
		mlx5ep-fi)
	"$tmp/prog"
	# What a package of this program would depend on.
	mkdir -p "$tmp/debian"
	: >"$tmp/debian/control"
	(cd "$tmp" && dpkg-shlibdeps -O --warnings=0 prog) >"$tmp/needs"
	cat "$tmp/needs"
	grep -F "libmlx5ep0 (>= $version)" "$tmp/needs"
	grep -F "libmlx5ep-fi0 (>= $version)" "$tmp/needs"
	! readelf -d /usr/bin/mlx5ep | grep -i runpath || return 1
	readelf -d /usr/bin/mlx5ep | grep BIND_NOW
	readelf -h /usr/bin/mlx5ep | grep 'Type: *DYN'
	# It finds its programs, and then no device.
	[ -x /usr/libexec/mlx5ep/msgrate ]
	! readelf -d /usr/libexec/mlx5ep/msgrate | grep -i runpath || return 1
	code 4 env -i PATH=/usr/bin:/bin mlx5ep bench
	packaging/debian/tests/programs
}

# The tool stays when the module goes. Then nothing tries to load the module.
module_removed()
{
	dpkg --remove mlx5-ep-dkms
	[ -x /usr/bin/mlx5ep ]
	! modprobe -S "$kernel" --showconfig | grep '^install mlx5_ep'
}

# shellcheck disable=SC2086
purge_all()
{
	dpkg --purge $packages
	[ -z "$(dkms status mlx5_ep)" ]
	[ ! -e "/usr/src/mlx5_ep-$version" ]
	must_fail modinfo -k "$kernel" mlx5_ep
	must_fail grep -l mlx5_ep "/lib/modules/$kernel"/modules.{dep,alias,symbols}{,.bin}
	must_fail command -v mlx5ep
	[ ! -e /etc/modprobe.d/mlx5_ep.conf ]
	[ ! -e /etc/mlx5ep.conf ]
	[ ! -e /usr/lib/modprobe.d/mlx5ep.conf ]
	show_other_kernels
}

# DKMS prints dots from a child process, whose sleep runs on after DKMS has
# ended.
dots_gone()
{
	! pgrep -s 0 -x sleep >/dev/null
}

stand_ins
plan 14
check 'a build without lintian says so' without_lintian
check 'where UCX is older than 1.17, all is built but what that cannot use' older_ucx
check 'what a build needs and has not is named, and how to install it' build_depends
check 'eight packages are built, and lintian accepts them' build
check 'a build that fails is told, and the initramfs keeps no old module' build_fails
check 'dpkg configures them when it can be built' install_all
check 'DKMS has built the module' module_built
check 'DKMS leaves kernels alone that it is not for' other_kernels
check 'a kernel is installed for which the module cannot be built' new_kernels
check 'they hold what make install installs' same_as_make_install
check 'they say what they need' depends
check 'the tool runs and a program builds' works
check 'without the module nothing tries to load it' module_removed
check 'they go without a trace' purge_all
wait_for 30 dots_gone || :
ktap_finished
