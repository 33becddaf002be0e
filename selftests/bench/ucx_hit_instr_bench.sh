#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 1, mem: 2G, icount: yes, timeout: 600
#
# What a lookup in UCX's registration cache costs beside the hooks and with
# libmlx5ep-ucx, in guest instructions: a put and a message whose registration is kept.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/bench/lib.sh
. selftests/bench/lib.sh

export UCX_NET_DEVICES=mlx5_0:1 UCX_ZCOPY_THRESH=0 UCX_VFS_ENABLE=n

# measure NAME TRANSPORT: the figures are in /tmp/NAME
measure()
{
	UCX_TLS=$2 build/selftests/bench/ucx_hit >"/tmp/$1"
}

# values NAME CALL: the numbers
values()
{
	sed -n "s/^$2 //p" "/tmp/$1"
}

for tls in rc_x rc_v; do
	measure hooks $tls
	LD_PRELOAD=$PWD/build/lib/libmlx5ep-ucx.so.0 measure words $tls
	for call in put send; do
		name=ucx_hit
		[ $call = put ] || name=ucx_send
		# shellcheck disable=SC2046 # a list
		bench_note "${name}_hooks_${tls}_instr" instructions \
			$(values hooks $call)
		# shellcheck disable=SC2046 # a list
		most=$(times_median 1.05 $(values hooks $call))
		# shellcheck disable=SC2046 # a list
		bench_at_most "${name}_words_${tls}_instr" instructions "$most" \
			$(values words $call)
	done
done
