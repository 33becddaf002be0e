#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: settings, timeout: 400
#
# An adapter with few UAR pages is drained. Each policy serves at least the
# contexts, armed CQs and QPs that are served without the module.

set -euo pipefail
cd "$(dirname "$0")/../.."

# As many pages as an adapter with a small BAR has. The budget of a policy is
# three quarters of that, as is the default for an adapter of any size.
pages=64
budget=48
# shellcheck source=selftests/limits/drain.sh
. selftests/limits/drain.sh

plan 5
drain_checks
ktap_finished
