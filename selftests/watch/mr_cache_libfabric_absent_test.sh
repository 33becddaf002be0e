#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, module: no, timeout: 120
#
# Without the module the preloaded monitor says that it cannot work, and
# libfabric goes on with a monitor of its own.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

export MLX5EP_FI_MONITOR=verbose FI_LOG_LEVEL=info
export LD_PRELOAD=$PWD/build/lib/libmlx5ep-fi.so.0
fi_info -p verbs >"$tmp/out" 2>&1 || echo "exit status $?" >>"$tmp/out"
unset LD_PRELOAD

says()
{
	tail -n 5 "$tmp/out"
	grep -q "$1" "$tmp/out"
}

plan 3
check 'it is not imported' says '^mlx5ep-fi: Operation not supported$'
check 'libfabric takes its own' says 'Default memory monitor is: memhooks'
check 'the provider works' says 'provider: verbs'
ktap_finished
