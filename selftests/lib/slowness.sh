# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash

# slowness_of KERNEL: how many times as long as on a stock kernel work takes on
# it. The runner gives tests that much longer; in a guest it is
# MLX5_EP_SLOWNESS, for limits inside of them.
slowness_of()
{
	case $1 in
	debug) echo 4 ;;
	kcsan) echo 6 ;;
	*) echo 1 ;;
	esac
}
