# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Runs smart with 96 threads under a policy. Test and benchmark share this.

smart_ep=/sys/class/infiniband/${MLX5_EP_DEVICE:-mlx5_0}/mlx5_ep

# smart_run POLICY PAGES FILE: FILE has what the program, the HCA and the counter
# of spinlocks said
smart_run()
{
	local status=0

	echo "$2" >"$smart_ep/uuar_pages"
	echo "$1" >"$smart_ep/uuar_policy"
	simhca-ctl '{"op":"reset"}' >/dev/null
	LD_PRELOAD=$PWD/build/selftests/spin_waits.so build/bin/smart \
		-x 'LD_PRELOAD= build/bin/uuar_doorbells -q' >"$3" 2>&1 ||
		status=$?
	echo stock >"$smart_ep/uuar_policy"
	echo 0 >"$smart_ep/uuar_pages"
	return $status
}

# smart_figure FILE NAME: prints the number behind NAME=
smart_figure()
{
	sed -n "s/.*\<$2=\([0-9]*\).*/\1/p" "$1"
}
