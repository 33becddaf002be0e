#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, module: later, hca: 0, guest: rxe, smp: 2, mem: 2G, timeout: 500
#
# The registration cache under real allocators, on rdma_rxe, a real driver, where there is
# no mlx5 adapter: the data is right, and the kernel counts no more pinned memory than
# the cache may keep.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh
# shellcheck source=selftests/notify/soft.sh
. selftests/notify/soft.sh
# shellcheck source=selftests/watch/allocators.sh
. selftests/watch/allocators.sh
program+=(-p)

plan $((checks_of_allocators + 2))
check 'rxe0 is there, and the module without mlx5_core' soft_begins
allocators_checks 5
check 'the module unloads' soft_ends
ktap_finished
