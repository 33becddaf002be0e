#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full
#
# What a build says where the kernel lacks something that the module needs: one
# line that names it. A made-up compiler stands for such a kernel.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
probes=kernel/compat/probe

# The source is the last argument; the file $dir/lacks has what does not compile.
cat >"$dir/cc" <<-END
	#!/bin/sh
	for source; do :; done
	! grep -qxF "\${source#$probes/}" "$dir/lacks"
END
chmod +x "$dir/cc"

# lacks SOURCE...: the answers of a kernel on which these sources do not compile
lacks()
{
	printf '%s\n' control_fails.c "$@" >"$dir/lacks"
	rm -f "$dir/probed.h"
	kernel/compat/probe.sh "$probes" "$dir/probed.h" "$dir/cc" \
		>"$dir/said" 2>&1
}

has_all()
{
	lacks && [ ! -s "$dir/said" ] && ! grep -q ' 0$' "$dir/probed.h"
}

# Something optional is an answer and no error.
lacks_optional()
{
	lacks vm_flags_mod.c && grep -qx '#define HAVE_VM_FLAGS_MOD 0' "$dir/probed.h" &&
		[ "$(grep -c ' 0$' "$dir/probed.h")" = 1 ]
}

# refused SOURCE WORDS: the build stops, says so in one line, writes no answers
refused()
{
	! lacks "$1" && [ ! -e "$dir/probed.h" ] &&
		[ "$(cat "$dir/said")" = "mlx5_ep: this kernel lacks $2" ]
}

# DKMS compiles with clang for a kernel that clang compiled, and try_build.sh does too.
clang_kernel()
{
	mkdir -p "$dir/headers" "$dir/bin"
	printf '#!/bin/sh\necho "$@"\n' >"$dir/bin/make"
	chmod +x "$dir/bin/make"
	PATH=$dir/bin:$PATH kernel/compat/try_build.sh none 1 "$dir/headers" >"$dir/said"
	grep 'modules$' "$dir/said"
	! grep LLVM "$dir/said" || return 1
	echo CONFIG_CC_IS_CLANG=y >"$dir/headers/.config"
	PATH=$dir/bin:$PATH kernel/compat/try_build.sh none 1 "$dir/headers" >"$dir/said"
	grep ' LLVM=1 modules$' "$dir/said"
}

plan 7
check 'a kernel that has everything' has_all
check 'a kernel that lacks something optional' lacks_optional
check 'a kernel without the auxiliary bus' refused needs/auxiliary_bus.c \
	'mlx5_ib as a driver of the auxiliary bus (since 5.11)'
check 'a kernel whose drivers allocate queue pairs' refused needs/create_qp.c \
	'queue pairs that ib_core allocates for the driver (since 5.15)'
check 'a kernel without cgroups' refused needs/cgroups.c 'cgroups (CONFIG_CGROUPS)'
check 'a kernel without notifiers' refused needs/mmu_notifier.c \
	'notifications that mapped memory changes (CONFIG_MMU_NOTIFIER)'
check 'the build before that of DKMS has its compiler' clang_kernel
ktap_finished
