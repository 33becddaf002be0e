# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash

# simhca_last [OPTION...]: prints the last commands that simhca ran, the last
# that it answered with an error, and its counters of errors that are not 0; for
# whoever looks into a failure. OPTIONs are those of simhca-ctl.
simhca_last()
{
	timeout 20 simhca-ctl "$@" cmdlog 2>/dev/null | jq -r '
		def line: "\(.seq) hca \(.hca) \(.op) status \(.status)";
		(.log[-8:][] | "simhca: command " + line),
		([.log[] | select(.status != 0)][-8:][] |
			"simhca: failed command " + line)' 2>/dev/null
	timeout 20 simhca-ctl "$@" dump 2>/dev/null | jq -r '
		.hcas[] | .index as $hca | .errors | to_entries[] |
		select(.value != 0) |
		"simhca: error hca \($hca) \(.key): \(.value)"' 2>/dev/null
}
