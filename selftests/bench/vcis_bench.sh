#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, timeout: 3000
#
# Eight threads of each of two MPI processes send small messages: QPs that share a
# register (uUAR), registers and pages that are rung, and the rate, for each transport
# and policy. Arguments are options of selftests/cluster/vcis, as --kernel.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/bench/lib.sh
. selftests/bench/lib.sh

# figures LINE: those of a row
figures()
{
	local word name
	local -A of=()
	local -a rates

	for word in $1; do
		of[${word%%=*}]=${word#*=}
	done
	name=vcis_${of[library]}_${of[transport]}_${of[policy]}
	name=${name//-/_}
	IFS=, read -ra rates <<<"${of[rates]}"
	bench_note "${name}_interfaces" VCIs "${of[vcis]}"
	bench_note "${name}_registers" registers "${of[uuars]}"
	bench_note "${name}_pages" pages "${of[pages]}"
	bench_note "${name}_rate" messages/s "${rates[@]}"
	# With a page for each QP of plain verbs nobody shares a register.
	case ${of[transport]}/${of[policy]} in
	rc_v/independent) bench_at_most "${name}_sharers" QPs 0 "${of[shared]}" ;;
	*) bench_note "${name}_sharers" QPs "${of[shared]}" ;;
	esac
}

selftests/cluster/vcis --threads 8 --pages 256 "$@" | while read -r _ line; do
	figures "$line"
done
