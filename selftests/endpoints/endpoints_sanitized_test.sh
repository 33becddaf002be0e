#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, timeout: 400
#
# The endpoint tests again with the library built under ASan and UBSan.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

asan=$(gcc -print-file-name=libasan.so)
ubsan=$(gcc -print-file-name=libubsan.so)

sanitized()
{
	[[ $(ldd "$1") = *libmlx5ep.so.0* ]]
	LD_LIBRARY_PATH=$PWD/build/san/lib LD_PRELOAD=$asan:$ubsan \
		ASAN_OPTIONS=detect_leaks=0 "$@"
}

plan 3
check "calls on the module" sanitized build/selftests/endpoints_module_test
check "errors and strangers" sanitized build/selftests/endpoints_errors_test
check "traffic over every category" sanitized build/bin/msgrate -t 2 -n 64 -R 1
ktap_finished
