# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Cuts the kernel log into one piece per test and finds the reports in it.

KLOG_BAD='BUG:|BUG [^ ]+ [(]|WARNING:|Oops|general protection|INFO: task .* blocked'
KLOG_BAD+='|possible (recursive|circular) locking|suspicious RCU'
KLOG_BAD+='|INFO: trying to register|Invalid wait context'
KLOG_BAD+='|refcount_t:|lockdep|UBSAN:|KASAN:|KCSAN:|unreferenced object'
KLOG_BAD+='|list_(add|del) corruption|scheduling while atomic|soft lockup'
KLOG_BAD+='|rcu_.*detected stalls|Kernel panic|sysfs: cannot create duplicate'
KLOG_BAD+='|DMA-API: .*(disabling|error)|kmemleak: .*disabled'

klog_here=$(dirname "${BASH_SOURCE[0]}")

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

# klog_unknown: prints the reports in the log on stdin that klog_known does not
# describe. A report is printed up to its end mark or the next leak, and at most
# 60 lines of it. One of lockdep lists a stack for each lock and is taken whole, as its
# rest would pass for a report of its own.
klog_unknown()
{
	awk -v bad="$KLOG_BAD" -v rules="$klog_here/klog_known" '
	BEGIN {
		while ((getline rule < rules) > 0) {
			if (rule ~ /^report: /)
				head[++n] = substr(rule, 9)
			else if (rule ~ /^with: /)
				with[n, ++withs[n]] = substr(rule, 7)
			else if (rule ~ /^without: /)
				without[n] = substr(rule, 10)
		}
	}

	function is_known(i, k) {
		for (i = 1; i <= n; i++) {
			if (first !~ head[i])
				continue
			for (k = 1; k <= withs[i]; k++)
				if (text !~ with[i, k])
					break
			if (k > withs[i] &&
			    (!(i in without) || text !~ without[i]))
				return 1
		}
		return 0
	}

	function close_report() {
		if (lines && !is_known())
			printf "%s", text
		lines = 0
	}

	/kmemleak: unreferenced object|lab: / { close_report() }
	!lines && $0 ~ bad { first = $0; text = "" }
	lines || $0 ~ bad {
		text = text $0 "\n"
		lines++
		sanitizer = first ~ /K(A|C)SAN:/
		most = first ~ /lock.* detected|inconsistent lock/ ? 400 : 60
		if ($0 ~ /=====*$/ || $0 ~ /end trace/ || lines == most ||
		    (!sanitizer && $0 ~ /<\/TASK>/))
			close_report()
	}
	END { close_report() }'
}

# klog_reports WORD: prints the unknown reports since the mark with that word
klog_reports()
{
	klog_since "$1" | klog_unknown | head -n 120
}
