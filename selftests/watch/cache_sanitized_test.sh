#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, smp: 2, timeout: 240
#
# The test of the cache with many threads finds nothing under ThreadSanitizer, and
# nothing under ASan and UBSan. Under one of them it must fail on a broken cache:
# each mutant changes one line, so that it breaks a rule of userlib/mr_cache_ref.h.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

kselftest=$(. lab/lib.sh
	echo "$lab_dir/source/tools/testing/selftests")

# Each mutant is a name, a sanitizer, a file and a sed script, which must change it.
mutants=(
	'dropped_entry_used|address,undefined|mr_cache_ref.h|s/while (now & CACHE_KEPT)/while (1)/'
	'last_user_forgotten|address,undefined|mr_cache_ref.h|s/return !__atomic_sub_fetch/return 0 * __atomic_sub_fetch/'
	'two_owners|address,undefined|mr_cache_ref.h|s/return !__atomic_and_fetch/return __atomic_and_fetch/'
	'idle_not_compared|address,undefined|mr_cache_ref.h|s/uint64_t idle = CACHE_KEPT;/uint64_t idle = *refs;/'
	'counted_without_atomics|thread|mr_cache_ref.h|s/__atomic_add_fetch(refs, CACHE_USER, __ATOMIC_ACQUIRE)/*refs += CACHE_USER/'
	'range_not_compared|address,undefined|mr_cache.c|s/if (entry->start <= start \&\& entry->end >= end \&\&/if (/'
	'word_not_compared|address,undefined|mr_cache.c|s/^\t    mlx5ep_mr_valid(&entry->mr)) {/\t    1) {/'
	'memory_freed|address,undefined|mr_cache_drop.c|s/cache_entry_free(cache, entry);/free(entry);/'
	'left_in_the_list|address,undefined|mr_cache_life.c|s/\*at = cache->next;/;/'
	'gone_while_read|thread|mr_cache_life.c|s/pthread_mutex_\(un\)*lock(&notifier->reading);/;/'
	'maximum_not_told|address,undefined|mr_cache_table.c|s/&table->over, true/\&table->over, false/'
)

# build SANITIZER PROGRAM: builds the test in $tmp, beside the cache there
build()
{
	gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -w -fsanitize="$1" -Iuapi \
		-fno-sanitize-recover=all -Iuserlib/include -Iselftests/lib \
		-isystem "$kselftest" -o "$2" \
		"$tmp/selftests/watch/cache_threads_test.c" -lpthread
}

copy()
{
	rm -rf "$tmp/userlib"
	mkdir -p "$tmp/selftests/watch"
	cp -r userlib "$tmp/"
	cp selftests/watch/cache_{threads_test.c,fake.h} "$tmp/selftests/watch/"
}

# Lost threads of a mutant end with the process.
run()
{
	TSAN_OPTIONS=halt_on_error=1 "$1"
}

passes()
{
	copy
	build "$1" "$tmp/program"
	run "$tmp/program"
}

# fails PROGRAM: which thread comes first is chance, so not each run shows what is broken
fails()
{
	local i

	for ((i = 0; i < 40; i++)); do
		run "$1" >"$tmp/out" 2>&1 || return 0
	done
	return 1
}

mutant_fails()
{
	local name sanitizer file script

	IFS='|' read -r name sanitizer file script <<<"$1"
	copy
	sed -i "$script" "$tmp/userlib/$file"
	! cmp -s "userlib/$file" "$tmp/userlib/$file" ||
		fail "$name: the script changes nothing any more"
	build "$sanitizer" "$tmp/program"
	fails "$tmp/program" || fail "$name: the test passes on a broken cache"
	grep -q '^not ok' "$tmp/out" || fail "$name: it did not even run"
}

plan $((${#mutants[@]} + 2))
check 'no data race under ThreadSanitizer' passes thread
check 'no error under ASan and UBSan' passes address,undefined
for mutant in "${mutants[@]}"; do
	check "mutant ${mutant%%|*} is caught" mutant_fails "$mutant"
done
ktap_finished
