#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# try_build.sh ACTION KERNEL HEADERS: build the module for DKMS before DKMS does. Exit
# with 77, by which DKMS skips a kernel and reports no error,
#
#	- where the kernel lacks what the module cannot do without;
#	- where the build fails while a kernel is installed or booted (ACTION is
#	  autoinstall or kernel_postinst): an error of DKMS would leave that kernel
#	  without an initramfs. The node boots with the stock driver.
#
# All else, and DKMS before 3.1.5, which does not look at the status, comes to the same
# error when DKMS builds.

# DKMS compiles with clang if the kernel was, and so does this.
llvm=''
! grep -q '^CONFIG_CC_IS_CLANG=y' "$3/.config" 2>/dev/null || llvm=LLVM=1
# shellcheck disable=SC2086 # no argument if it is empty
out=$(make -j "$(nproc)" "KERNELRELEASE=$2" -C "$3" "M=$PWD" $llvm modules 2>&1)
status=$?
echo "$out"
[ $status != 0 ] || exit 0
case $1,$out in
autoinstall,* | kernel_postinst,* | *'mlx5_ep: this kernel lacks'*) exit 77 ;;
esac
exit 0
