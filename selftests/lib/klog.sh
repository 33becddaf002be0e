# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# The kernel log, cut into one piece per test.

KLOG_BAD='BUG:|WARNING:|Oops|general protection|INFO: task .* blocked'
KLOG_BAD+='|possible (recursive|circular) locking|suspicious RCU'
KLOG_BAD+='|refcount_t:|lockdep|UBSAN:|KASAN:|KCSAN:|unreferenced object'
KLOG_BAD+='|list_(add|del) corruption|scheduling while atomic|soft lockup'
KLOG_BAD+='|rcu_.*detected stalls|Kernel panic|sysfs: cannot create duplicate'

# klog_mark WORD: everything later belongs to WORD
klog_mark()
{
	echo "selftest: $1" >>"${KLOG_DEVICE:-/dev/kmsg}"
}

# klog_since WORD: the log since the last mark with that word
klog_since()
{
	dmesg | awk -v mark="selftest: $1" '
		{ line[NR] = $0 }
		substr($0, length($0) - length(mark) + 1) == mark { from = NR }
		END { for (i = from + 1; i <= NR; i++) print line[i] }'
}

# klog_reports WORD: the log's complaints since that mark, with some context
klog_reports()
{
	klog_since "$1" | grep -E -A 30 -e "$KLOG_BAD" | head -n 60
}
