# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash

# kernel_of ARCH NAME: prints the lab's kernel of an architecture; NAME is the size of a
# page, or the name that is printed. Fails where there is none.
kernel_of()
{
	case $1/$2 in
	arm64/4k | arm64/arm64) echo arm64 ;;
	arm64/16k | arm64/arm64-16k) echo arm64-16k ;;
	arm64/64k | arm64/arm64-64k) echo arm64-64k ;;
	*) return 1 ;;
	esac
}

# arch_of KERNEL: prints the architecture of a kernel, if it is not that of the lab
arch_of()
{
	case $1 in
	arm64 | arm64-*) echo arm64 ;;
	esac
}
