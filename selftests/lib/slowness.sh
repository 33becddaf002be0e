# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash

# slowness_of KERNEL: prints how many times longer work takes on a kernel than
# on a stock kernel. The runner multiplies the limits of tests by it. In a guest
# MLX5_EP_SLOWNESS has the number, for limits inside tests. For a kernel that is
# named by a path lab/kernel has noted it, below the folder in which
# slowness_of is called.
slowness_of()
{
	case $1 in
	debug) echo 4 ;;
	kcsan) echo 6 ;;
	*) cat "build/lab/kernels/$1/slowness" 2>/dev/null || echo 1 ;;
	esac
}
