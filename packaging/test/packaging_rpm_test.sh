#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 900
#
# The RPM packages are built, and are what packaging/rpm/check wants them to be.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

plan 1
check 'the RPM packages hold what they should' packaging/rpm/check
ktap_finished
