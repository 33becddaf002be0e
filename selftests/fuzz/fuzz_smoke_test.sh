#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, kernels: debug, instrument: kcov, guest: fuzz, timeout: 120
#
# The fuzzer runs for twenty seconds from its corpus, and finds nothing but edges.
here=$(dirname "$0")
# shellcheck source=selftests/lib/lib.sh
. "$here/../lib/lib.sh"

last=$(mktemp)
trap 'rm -f "$last"' EXIT

plan 4
check 'nothing is reported, hangs or is left' bash -o pipefail -c \
	"build/selftests/fuzz --seconds 20 --corpus '$here/corpus' | tee '$last'"
check 'the programs of the corpus ran' grep -qE '^# corpus: [1-9]' "$last"
check 'programs ran' grep -qE '^fuzz: [1-9][0-9]{2,} executions' "$last"
check 'they ran a good part of the module' \
	grep -qE ' [0-9]{4,} edges, 0 reports' "$last"
ktap_finished
