# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# Shared by the findings about DKMS; read with "source" behind chroot.sh.
#
#   dkms_in SUITE COMMAND     runs a shell command in the chroot of SUITE, where
#       $k                        is a kernel that only DKMS believes in: headers without a compiler's
#                                 help, an empty list of modules, and the marks that depmod wants
#       module NAME VERSION [LINE...]
#                                 adds a module of one C file, with further lines for its dkms.conf
#       states                    prints what DKMS says of each module: NAME/VERSION STATE

dkms_in() {
	# shellcheck disable=SC2016 # expanded in the chroot
	in_root "$1" '
	k=9.9.9-findings
	mkdir -p "/lib/modules/$k/kernel" "/usr/src/linux-headers-$k/include" \
		"/usr/src/linux-headers-$k/scripts"
	ln -sfn "/usr/src/linux-headers-$k" "/lib/modules/$k/build"
	echo CONFIG_MODULES=y >"/usr/src/linux-headers-$k/.config"
	touch "/lib/modules/$k/modules.order" "/lib/modules/$k/modules.builtin"
	depmod "$k" 2>/dev/null
	module() {
		local name=$1 version=$2
		shift 2
		mkdir -p "/usr/src/$name-$version"
		echo "int x;" >"/usr/src/$name-$version/$name.c"
		printf "%s\n" "PACKAGE_NAME=$name" "PACKAGE_VERSION=$version" \
			"BUILT_MODULE_NAME[0]=$name" "DEST_MODULE_LOCATION[0]=/updates" \
			"MAKE[0]=\"gcc -c $name.c -o $name.ko\"" AUTOINSTALL=yes "$@" \
			>"/usr/src/$name-$version/dkms.conf"
		dkms add "$name/$version" >/dev/null
	}
	states() {
		dkms status | sed "s/, $k, [^:]*:/:/; s/:  */ /"
	}
	'"$2"
}
