#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 300
#
# How Kbuild finds out what a kernel has, with the headers of a real one. They are links
# to those of the newest kernel here, and some of them take another's place. Of the module
# nothing is made but the answers of the probes.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

newest=$(ls -d /usr/lib/modules/*/build | sort -V | tail -n 1)
headers=$(readlink -f "$newest")
tree=$tmp/tree
answers=kernel/compat/probed.h

# headers_of TREE: headers of which each can be another one
headers_of()
{
	cp -rs "$headers" "$1"
	rm "$1/Makefile"
	sed "s,^KBUILD_OUTPUT=.*,KBUILD_OUTPUT=$1," "$headers/Makefile" >"$1/Makefile"
}

# source_of FOLDER PROBE...: a source of the module whose only product is the answers of
# these probes, as all of them take long
source_of()
{
	local probe

	mkdir "$1"
	cp -r Kbuild VERSION kernel uapi "$1"
	printf '%s\n' 'obj-m :=' "always-y := $answers" >>"$1/Kbuild"
	rm "$1"/kernel/compat/probe/{,needs/}*.c
	for probe in control control_fails "${@:2}"; do
		cp "kernel/compat/probe/$probe.c" "$1/kernel/compat/probe/$probe.c"
	done
}

# build FOLDER [VARIABLE=VALUE...]: what the build says is in $tmp/said
build()
{
	make -C "$tree" "M=$1" "${@:2}" modules >"$tmp/said" 2>&1
}

# The kernel's configuration, or who builds, makes errors of all warnings.
warnings_are_errors()
{
	source_of "$tmp/warned" vm_flags_mod needs/create_qp \
		dma_buf_{move_notify,attach_maps,invalidate_mappings}
	build "$tmp/warned" \
		KCFLAGS='-Werror -Wmissing-prototypes -Wunused-const-variable' ||
		fail "$(cat "$tmp/said")"
	grep -qx '#define HAVE_VM_FLAGS_MOD 1' "$tmp/warned/$answers"
	# 7.2 has another name for this one.
	grep -qx '#define HAVE_DMA_BUF_INVALIDATE_MAPPINGS 1' "$tmp/warned/$answers"
	grep -qx '#define HAVE_DMA_BUF_MOVE_NOTIFY 0' "$tmp/warned/$answers"
	# And it keeps no mapping for an importer.
	grep -qx '#define HAVE_DMA_BUF_ATTACH_MAPS 0' "$tmp/warned/$answers"
}

# A release is built again, or its headers are replaced: the answers of before are wrong.
built_again()
{
	local wrong='#define HAVE_VM_FLAGS_MOD 0'

	source_of "$tmp/again" vm_flags_mod needs/auxiliary_bus
	build "$tmp/again" || fail "$(cat "$tmp/said")"
	echo "$wrong" >"$tmp/again/$answers"
	build "$tmp/again"
	[ "$(cat "$tmp/again/$answers")" = "$wrong" ] || fail 'asked without a reason'
	cp --remove-destination "$headers/Module.symvers" "$tree/"
	build "$tmp/again"
	grep -qx '#define HAVE_VM_FLAGS_MOD 1' "$tmp/again/$answers"
}

# without OPTION WORDS [OTHERS]: the kernel has been configured without it, and without
# what depends on it, a pattern. The build says so.
without()
{
	local file

	source_of "$tmp/$1" needs/{auxiliary_bus,cgroups,create_qp,mmu_notifier}
	for file in include/generated/autoconf.h include/config/auto.conf; do
		sed -E "/CONFIG_($1${3:+|$3})[ =]/d" "$headers/$file" >"$tmp/file"
		cp --remove-destination "$tmp/file" "$tree/$file"
	done
	must_fail build "$tmp/$1"
	grep -x "mlx5_ep: this kernel lacks $2 (CONFIG_$1)" "$tmp/said" ||
		fail "$(cat "$tmp/said")"
}

# The script that looks for another ib_core does not end as it should.
search_fails()
{
	source_of "$tmp/search" vm_flags_mod needs/auxiliary_bus
	echo 'echo why >&2; exit 1' >"$tmp/search/kernel/compat/ofa.sh"
	must_fail build "$tmp/search"
	grep -x why "$tmp/said"
	grep 'mlx5_ep: kernel/compat/ofa.sh has failed' "$tmp/said"
	[ ! -e "$tmp/search/$answers" ]
}

headers_of "$tree"
plan 5
check 'a warning that is an error is no answer' warnings_are_errors
check 'a tree that was built again is asked again' built_again
check 'no answer about ib_core stops the build' search_fails
check 'a kernel without cgroups' without CGROUPS cgroups \
	'[A-Z_]*(CGROUP|MEMCG)[A-Z_0-9]*'
check 'a kernel without notifiers' without MMU_NOTIFIER \
	'notifications that mapped memory changes'
ktap_finished
