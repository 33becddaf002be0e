#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 300
#
# Where a checkout may lie: below folders that a guest mounts anew too. Where it
# cannot work, one line says so before anything is built. vm may be started from
# any folder.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

top=$PWD

# checkout FOLDER: what vm needs of one, without HCAs
checkout()
{
	mkdir -p "$1/selftests"
	cp -r lab "$1"
	cp -r selftests/lib "$1/selftests"
	cp Makefile "$1"
}

# works_below FOLDER: a guest sees the checkout there
works_below()
{
	local dir=$1/mlx5_ep.$$ status=0

	checkout "$dir"
	(cd "$dir" && timeout 200 lab/vm --hca 0 --timeout 180 -- \
		sh -c 'pwd && ls lab/vm') >"$tmp/out" 2>"$tmp/err" ||
		status=$?
	rm -rf "$dir"
	tail -n 5 "$tmp/err"
	[ "$status" = 0 ] || fail "exit status $status"
	printf '%s\nlab/vm\n' "$dir" | cmp - "$tmp/out"
}

# refused COMMAND...: with status 1 and one line that names the reason
refused()
{
	local status=0

	timeout 60 "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
	cat "$tmp/out" "$tmp/err"
	[ "$status" = 1 ] || fail "$*: exit status $status"
	[ "$(cat "$tmp/out" "$tmp/err" | wc -l)" = 1 ]
	grep -q 'takes no path with a blank, a comma, a colon' "$tmp/err"
}

bad_checkouts()
{
	local name dir

	for name in 'a b' a,b a:b "a'b"; do
		dir=$tmp/$name
		checkout "$dir"
		refused "$dir/lab/vm" --hca 0 -- true
		refused "$dir/lab/setup"
		refused "$dir/lab/enter" true
		refused "$dir/lab/build-module" 7.2
		! make -C "$dir" demo >"$tmp/out" 2>&1 || fail "make demo"
		cat "$tmp/out"
		[ "$(grep -vc '^make' "$tmp/out")" = 1 ]
	done
}

bad_caches()
{
	local name

	for name in 'c d' c,d c:d; do
		MLX5_EP_CACHE=$tmp/$name refused lab/vm --hca 0 -- true
		MLX5_EP_CACHE=$tmp/$name refused lab/setup
	done
	[ -z "$(find "$tmp" -maxdepth 1 -name 'c[ ,:]d')" ]
}

# linked: a checkout that is reached through a symbolic link
linked()
{
	ln -s "$top" "$tmp/link"
	[ "$(cd "$tmp/link" && lab/enter pwd)" = "$top" ]
	(cd "$tmp/link" && make -n hca) >"$tmp/out" 2>&1 || fail "$(cat "$tmp/out")"
}

elsewhere()
{
	local elsewhere=$tmp/elsewhere

	mkdir "$elsewhere"
	(cd "$elsewhere" && "$top/lab/vm" --hca 0 -- pwd) \
		>"$tmp/out" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
	[ "$(cat "$tmp/out")" = "$top" ]
	(cd lab && ./vm --hca 0 -- pwd) >"$tmp/out" 2>"$tmp/err" ||
		fail "$(cat "$tmp/err")"
	[ "$(cat "$tmp/out")" = "$top/lab" ]
}

plan 7
for folder in /tmp /run /dev/shm; do
	check "a checkout below $folder works" works_below $folder
done
check 'a path of a checkout that cannot work is refused' bad_checkouts
check 'a path of a cache that cannot work is refused' bad_caches
check 'a checkout behind a symbolic link works' linked
check 'vm can be started from another folder' elsewhere
ktap_finished
