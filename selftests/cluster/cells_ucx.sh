# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Debian's UCX over each transport that it has for the HCA. ucx_checked compares each
# byte that arrives; ucx_perftest is UCX's own program, and must complete.

ucx_port=14000

ucx_cells()
{
	local tls

	# See ucx_checked_test.sh.
	export UCX_NET_DEVICES=$cells_dev:1 UCX_VFS_ENABLE=n
	# ib: UCX chooses.
	for tls in rc_v rc_x ud_v ud_x dc_x ib; do
		cell ucx_checked $tls ucx_over $tls \
			said '^ucx_checked: atomic: 500 right$' \
			build/bin/ucx_checked
	done
	for tls in rc_v rc_x ud_x; do
		cell ucx_perftest $tls ucx_over $tls ucx_perftest_pair tag_bw
	done
	# A thread domain for each QP in place of DevX.
	cell ucx_checked 'rc_x, no DevX' ucx_no_devx
	unset UCX_NET_DEVICES UCX_VFS_ENABLE
}

# ucx_over TRANSPORT CMD...
ucx_over()
{
	UCX_TLS=$1 "${@:2}"
}

ucx_no_devx()
{
	UCX_IB_MLX5_DEVX=n ucx_over rc_x said '^ucx_checked: atomic: 500 right$' \
		build/bin/ucx_checked
}

# ucx_perftest_pair TEST
ucx_perftest_pair()
{
	# See consumers/perftest.sh.
	local -x OMPI_MCA_pml=ob1 OMPI_MCA_btl=self
	local -a words=(ucx_perftest -P 0 -p $((ucx_port + RANDOM % 10000)))

	pair "${words[@]}" -- "${words[@]}" -t "$1" -s 4096 -n 200 -w 20 127.0.0.1
}
