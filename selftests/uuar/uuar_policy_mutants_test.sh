#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 400
#
# The test of the policies must fail on a broken policy. Each mutant below
# changes one line of kernel/uuar/uuar_policy.c, so that it breaks a rule of
# Documentation/concepts.md.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

kselftest=$(. lab/lib.sh
	echo "$lab_dir/source/tools/testing/selftests")

# Each mutant is a name and a sed script, which must change the file.
mutants=(
	'low_latency_shared|s/return policy_nr_uuars(t) - t->low_latency;/return policy_nr_uuars(t);/'
	'low_latency_off_by_one|s/return policy_nr_uuars(t) - t->low_latency;/return policy_nr_uuars(t) - t->low_latency + 1;/'
	'used_uuar_taken|s/if (!policy_usable(t, uuar) || mlx5_ep_uuar_table_qps(t, uuar))/if (!policy_usable(t, uuar))/'
	'unknown_page_taken|s/!policy_usable_page(t, page) ||/0 ||/'
	'closed_ignored|s/ \&\& !t->closed)/)/'
	'empty_never_taken|s/t->pages\[page\].known || (.*closed)/t->pages[page].known/'
	'unknown_uuar_shared|s/^\t\tif (!policy_usable(t, uuar))$/if (0)/'
	'strict_ignored|s/if (uuar >= 0 || t->strict)/if (uuar >= 0)/'
	'always_strict|s/if (uuar >= 0 || t->strict)/if (uuar >= 0 || t->nr_pages)/'
	'avoided_page_taken|s/if (policy_is_avoided(t, page))/if (0)/'
	'avoided_page_of_a_word|s/t->avoid\[page \/ bits\]/t->avoid[0]/'
	'no_page_at_all|s/return pages ? pages : 1;/return pages;/'
	'too_many_pages|s/pages > MLX5_EP_MAX_PAGES)/pages > 2 * MLX5_EP_MAX_PAGES)/'
	'budget_ignored|s/if (pages > s->available)/if (0)/'
	'low_latency_raised|s/return min(library, most);/return most;/'
	'odd_low_latency_cut|s/(s->low_latency + 2 + 1)/(s->low_latency + 2)/'
	'low_latency_uncut|s/return min(library, most);/return library;/'
	'release_forgotten|s/\(% MLX5_EP_UUARS_PER_PAGE\]\)--;/\1;/'
	'no_last_resort|s/if (uuar < 0 \&\& policy_usable(t, 0))/if (0)/'
	'sharing_uneven|s/mlx5_ep_uuar_table_qps(t, uuar) < least)/0)/'
	'stock_from_the_top|s/^\tfor (uuar = end; uuar < policy_nr_uuars(t); uuar++)$/for (uuar = policy_nr_uuars(t); uuar-- > end;)/'
	'anothers_uuar_shared|s/return uuar \&\& mlx5_ep_uuar_table_qps(t, uuar) \&\&/return 0 \&\&/'
	'owner_not_noted|s/page->owner.* = t->owner;//'
	'level_of_page_only|s/return mlx5_ep_uuar_page_qps(page) > 1 ? 2 : 1;/return 1;/'
)

mutant_fails()
{
	local name=${1%%|*} script=${1#*|}

	sed "$script" kernel/uuar/uuar_policy.c >"$tmp/$name.c"
	! cmp -s kernel/uuar/uuar_policy.c "$tmp/$name.c" ||
		fail "$name: the script changes nothing any more"
	build "$tmp/$name.c" "$tmp/$name"
	! "$tmp/$name" >"$tmp/$name.out" 2>&1 ||
		fail "$name: the test passes on a broken policy"
	grep -q '^not ok' "$tmp/$name.out" || fail "$name: it did not even run"
}

# build SOURCE PROGRAM: builds the test with SOURCE in place of the policies
build()
{
	gcc -std=gnu11 -D_GNU_SOURCE -O1 -w -Iuapi -Ikernel -Ikernel/uuar \
		-isystem "$kselftest" \
		-DPOLICY_SOURCE="\"$1\"" -o "$2" selftests/uuar/uuar_policy_test.c
}

control_passes()
{
	build "$PWD/kernel/uuar/uuar_policy.c" "$tmp/control"
	"$tmp/control" >/dev/null
}

plan $((${#mutants[@]} + 1))
check 'the policies as they are pass' control_passes
for mutant in "${mutants[@]}"; do
	check "mutant ${mutant%%|*} is caught" mutant_fails "$mutant"
done
ktap_finished
