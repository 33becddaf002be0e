#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, timeout: 200
#
# Programs with glibc, jemalloc, tcmalloc and mimalloc send what they allocate,
# reallocate and free through the registration cache: the data is right, and simhca
# counts no more registered memory than the cache may keep.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/watch/allocators.sh
. selftests/watch/allocators.sh

plan "$checks_of_allocators"
allocators_checks "${1:-10}"
ktap_finished
