#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 400, long: yes
#
# linux-tree on a small tree that has only the files which the series changes, and a
# checkpatch that only says what it is told: what linux-tree refuses, and that a tree
# is as it was before when a step fails. Nothing is built. What judges a build and its tests
# is asked by itself.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# shellcheck source=packaging/test/linux_tree.sh
. packaging/test/linux_tree.sh

# refused PATTERN TREE: in one line, and the tree and its commits stay
refused()
{
	cp -a "$2" "$tmp/before"
	code 1 $linux_tree --no-build "$2"
	grep -qE "$1" "$tmp/err"
	[ "$(cat "$tmp/out" "$tmp/err" | grep -vc '^linux-tree: RDMA\|selftests:')" = 1 ]
	diff -r --exclude=.git "$tmp/before" "$2"
	[ "$(git -C "$2" rev-parse HEAD 2>&1)" = \
		"$(git -C "$tmp/before" rev-parse HEAD 2>&1)" ]
	rm -r "$tmp/before"
}

# The commits of a tree in a folder that another repository ignores would be that
# repository's.
other_repository()
{
	mkdir "$tmp/outer"
	echo /linux >"$tmp/outer/.gitignore"
	repository "$tmp/outer"
	files "$tmp/outer/linux"
	cp -a "$tmp/outer" "$tmp/outer.before"
	code 1 $linux_tree --no-build "$tmp/outer/linux"
	grep -qx "linux-tree: $tmp/outer/linux has no git repository of its own.*" \
		"$tmp/err"
	diff -r --exclude=.git "$tmp/outer.before" "$tmp/outer"
	[ "$(git -C "$tmp/outer" log --oneline | wc -l)" = 1 ]
}

other_trees()
{
	code 1 $linux_tree --no-build "$tmp/none/linux"
	echo "linux-tree: no such folder: $tmp/none/linux" | diff - "$tmp/err"
	mkdir "$tmp/empty"
	refused 'empty is no Linux tree' "$tmp/empty"
	files "$tmp/plain"
	refused 'plain has no commits' "$tmp/plain"
	PATH=$without_git code 1 $linux_tree --no-build "$tmp/plain"
	echo 'linux-tree: git is not installed, which makes the commits' |
		diff - "$tmp/err"
	files "$tmp/dirty"
	repository "$tmp/dirty"
	echo more >>"$tmp/dirty/MAINTAINERS"
	refused 'dirty has changes that are not committed' "$tmp/dirty"
	files "$tmp/draft"
	repository "$tmp/draft"
	echo mine >"$tmp/draft/Documentation/infiniband/mlx5_ep.rst"
	refused 'draft has Documentation/infiniband/mlx5_ep.rst already' "$tmp/draft"
	files "$tmp/linked"
	repository "$tmp/linked"
	ln -s draft "$tmp/linked-mlx5_ep-build"
	code 1 $linux_tree "$tmp/linked"
	grep -qx "linux-tree: .*/linked-mlx5_ep-build, .* is a symbolic link or .*" "$tmp/err"
}

failures()
{
	files "$tmp/older"
	echo other >"$tmp/older/MAINTAINERS"
	repository "$tmp/older"
	refused 'MAINTAINERS has no entry' "$tmp/older"
	[ -z "$(git -C "$tmp/older" status --porcelain)" ]
	files "$tmp/strict"
	echo 'exit 1;' >"$tmp/strict/scripts/checkpatch.pl"
	repository "$tmp/strict"
	refused 'checkpatch says this of' "$tmp/strict"
	# What is wrong with checkpatch itself is shown.
	echo 'die "no dictionary";' >"$tmp/strict/scripts/checkpatch.pl"
	git -C "$tmp/strict" commit -q -a -m second
	code 1 $linux_tree --no-build "$tmp/strict"
	grep -q '^no dictionary at ' "$tmp/err"
}

without_perl()
{
	mkdir "$tmp/bin"
	ln -s /usr/bin/* "$tmp/bin/"
	rm "$tmp/bin/perl"
	files "$tmp/perl"
	repository "$tmp/perl"
	PATH=$parts/usr/bin:$tmp/bin \
		refused 'perl is not installed, which checkpatch needs' "$tmp/perl"
}

# Both options are taken, in each order, and no third word.
both_options()
{
	code 1 $linux_tree --load --boot "$tmp/none"
	grep -qx "linux-tree: no such folder: $tmp/none" "$tmp/err"
	code 1 $linux_tree --boot --load "$tmp/none"
	code 2 $linux_tree --load --no-build "$tmp/none"
	code 2 $linux_tree --no-build --load "$tmp/none"
	make -n linux-tree LINUX=x LOAD=1 BOOT=1 | grep 'linux-tree --load --boot '
}

# It is stopped while checkpatch looks at the first commit.
stopped()
{
	local pid

	files "$tmp/slow"
	# shellcheck disable=SC2016 # for perl
	echo 'open(my $f, ">", "../slow.started"); sleep 5;' \
		>"$tmp/slow/scripts/checkpatch.pl"
	repository "$tmp/slow"
	$linux_tree --no-build "$tmp/slow" >"$tmp/out" 2>&1 &
	pid=$!
	until [ -e "$tmp/slow.started" ]; do
		kill -0 $pid
		sleep 0.2
	done
	kill $pid
	code 143 wait $pid
	[ "$(git -C "$tmp/slow" log --oneline | wc -l)" = 1 ]
	[ -z "$(git -C "$tmp/slow" status --porcelain)" ]
}

# The variables of a hook are another repository's; a second time there is nothing to do.
commits()
{
	files "$tmp/good"
	repository "$tmp/good"
	GIT_DIR=$tmp/outer/.git code 0 $linux_tree --no-build "$tmp/good"
	grep -qx 'linux-tree: [0-9]* commits, checkpatch clean' "$tmp/out"
	[ "$(git -C "$tmp/good" log --oneline | wc -l)" -gt 5 ]
	[ -z "$(git -C "$tmp/good" status --porcelain)" ]
	[ "$(git -C "$tmp/outer" log --oneline | wc -l)" = 1 ]
	refused 'has drivers/infiniband/hw/mlx5_ep already' "$tmp/good"
}

# A module whose symbols are exported: by the kernel, by another file of its architecture,
# by a macro, and by the checkers of the compiler.
exports()
{
	local tree=$tmp/exporting

	mkdir -p "$tree"/{lib,arch/{x86,mips},tools}
	cat >"$tree/lib/a.c" <<-'END'
	EXPORT_SYMBOL_NS_GPL(one,
			     "A");
	EXPORT_TRACEPOINT_SYMBOL_GPL(two);
	static void own(void) {}
	#define STANDARD(name) EXPORT_SYMBOL(param_ops_##name);
	STANDARD(uint)
	CGROUP_REF_EXPORT(four)
	END
	echo 'EXPORT_SYMBOL(three)' >"$tree/arch/x86/b.S"
	echo 'EXPORT_SYMBOL(own)' | tee "$tree/arch/mips/c.c" >"$tree/tools/d.c"
	repository "$tree"
	echo 'extern int __tracepoint_two;
		int one(), three(), four(), param_ops_uint(), __asan_load4();
		int f(void)
		{
			return one() + three() + four() + param_ops_uint() + __asan_load4() +
				__tracepoint_two;
		}' | gcc -w -c -x c -o "$tmp/good.o" -
	code 0 packaging/linux-tree/exports "$tree" "$tmp/good.o"
	echo 'int own(), ones(); int f(void) { return own() + ones(); }' |
		gcc -w -c -x c -o "$tmp/bad.o" -
	code 1 packaging/linux-tree/exports "$tree" "$tmp/good.o" "$tmp/bad.o"
	printf '%s\n' ones own | diff - "$tmp/out"
}

# judged STATUS WORDS LINE...: what is said of such results
judged()
{
	printf '%s\n' "${@:3}" >"$tmp/ktap"
	code "$1" packaging/linux-tree/passed "$tmp/ktap"
	cat "$tmp/out" "$tmp/err" | grep -q "^linux-tree: $2"
}

results()
{
	judged 0 '2 selftests of the tree pass, 1 of them by skipping' \
		1..2 'ok 1 a' 'ok 2 b # SKIP'
	judged 1 'selftests of the tree fail: ' 1..2 'ok 1 a' 'not ok 2 b'
	judged 1 'all 2 selftests of the tree skip: ' 1..2 'ok 1 a # SKIP' 'ok 2 b # SKIP'
	judged 1 'no selftest of the tree has run: ' 1..0
	judged 1 'no selftest of the tree has run: ' ''
	judged 1 '1 of 2 selftests of the tree have run: ' 1..2 'ok 1 a'
}

# Instead of Coccinelle a script says something of a folder. One patch has no report.
# The script marks each function but those whose name begins with "odd".
semantics()
{
	local tree=$tmp/semantic folder=drivers/ep

	mkdir -p "$tree"/scripts/coccinelle/a "$tree/$folder" "$tmp/cocci/usr/bin"
	cat >"$tree/scripts/coccicheck" <<-'END'
	#!/bin/sh
	echo other output
	exec spatch -D "$MODE" "$COCCI" "$srcroot" 2>"$DEBUG_FILE"
	END
	cat >"$tmp/cocci/usr/bin/spatch" <<-'END'
	#!/bin/sh
	if [ "$1" = --very-quiet ]; then
		while [ $# -gt 2 ]; do
			[ "$1" != -o ] || out=$2
			shift
		done
		! grep -q '(' "$2" || sed '/odd/,/^{$/b; s/^{$/&\
		spatch_saw_it();/' "$2" >"$out"
		exit
	fi
	echo "/include/x.h:1:2: other"
	case $3 in
	*/camel.cocci) echo 'No OCaml compiler found! Install it' >&2; exit 1 ;;
	*/bad.cocci) [ ! -e "$4/bad" ] || echo "$4/qp.c:12:2-3: WARNING: bad" ;;
	*) [ ! -e "$4/bad" ] || { echo broken >&2; exit 2; } ;;
	esac
	END
	chmod 755 "$tree/scripts/coccicheck" "$tmp/cocci/usr/bin/spatch"
	echo 'virtual report' >"$tree/scripts/coccinelle/a/bad.cocci"
	echo 'virtual patch' >"$tree/scripts/coccinelle/a/other.cocci"
	printf '%s\n' 'struct plain x =' '{' '};' 'int one(int n)' '{' '}' \
		'static void two(int a,' '		int b)' '{' '}' >"$tree/$folder/a.c"
	echo 'int declared;' >"$tree/$folder/b.h"
	code 0 packaging/linux-tree/coccicheck "$tree" $folder "$tmp/cocci"
	[ ! -s "$tmp/out" ]
	printf '%s\n' 'linux-tree: spatch parses 2 functions' \
		'linux-tree: 1 semantic patches, 0 left out for want of OCaml' |
		diff - "$tmp/err"
	printf '%s\n' 'static int odd(int a,' '		int b)' '{' '}' >>"$tree/$folder/a.c"
	code 1 packaging/linux-tree/coccicheck "$tree" $folder "$tmp/cocci"
	grep -qF "$folder/a.c: static int odd(int a," "$tmp/out"
	rm "$tree/$folder/a.c"
	code 1 packaging/linux-tree/coccicheck "$tree" $folder "$tmp/cocci"
	grep -q 'spatch parses no function' "$tmp/out"
	printf '%s\n' 'int one(int n)' '{' '}' >"$tree/$folder/a.c"
	# Not each one that has parts in OCaml says so.
	echo 'virtual report' >"$tree/scripts/coccinelle/a/camel.cocci"
	code 0 packaging/linux-tree/coccicheck "$tree" $folder "$tmp/cocci"
	grep -qx 'linux-tree: 1 semantic patches, 1 left out for want of OCaml' "$tmp/err"
	rm "$tree/scripts/coccinelle/a/camel.cocci"
	touch "$tree/$folder/bad"
	code 1 packaging/linux-tree/coccicheck "$tree" $folder "$tmp/cocci"
	echo "$tree/$folder/qp.c:12:2-3: WARNING: bad" | diff - "$tmp/out"
	echo 'virtual report' >"$tree/scripts/coccinelle/a/other.cocci"
	code 1 packaging/linux-tree/coccicheck "$tree" $folder "$tmp/cocci"
	printf '%s\n' "coccicheck fails with $tree/scripts/coccinelle/a/other.cocci:" broken |
		diff - "$tmp/out"
}

# built LINE...: what is said of such an output of Kbuild
built()
{
	printf '  %s\n' "$@" >"$tmp/log"
	(
		die() { echo "$*" && exit 1; }
		folder=drivers/ep
		eval "$(sed -n '/^all_checked()/,/^}/p' $linux_tree)"
		all_checked "$tmp"
	)
}

looked_at()
{
	code 0 built 'CC [M]  drivers/ep/a.o' 'CHECK   ../drivers/ep/a.c' 'CC      init/b.o' \
		'CC      drivers/ep/b.o' 'CHECK   ../drivers/ep/b.c' 'LD [M]  drivers/ep/ep.o'
	grep -qx 'linux-tree: sparse looked at 2 files' "$tmp/err"
	code 1 built 'CC [M]  drivers/ep/a.o' 'CHECK   ../drivers/ep/a.c' 'CC      drivers/ep/b.o'
	grep -q '^sparse looked at 1 of 2 files: ' "$tmp/out"
	code 1 built 'CC [M]  drivers/ep/a.o'
	grep -q '^sparse looked at 0 of 1 files: ' "$tmp/out"
	code 1 built 'LD [M]  drivers/ep/ep.o'
}

# The lab is there, and has no way to Debian's packages.
no_coccinelle()
{
	# shellcheck disable=SC2034 # for the function that is evaluated
	local top=$tmp/top lab=$tmp/top/lab

	eval "$(sed -n '/^has_lab()/,/^)/p; /^check_semantics()/,/^}/p' $linux_tree)"
	mkdir -p "$lab"
	echo "lab_dir=$lab lab_src=$lab" >"$lab/lib.sh"
	printf '%s\n' '#!/bin/sh' 'echo no way >&2' 'exit 1' >"$lab/fetch"
	chmod 755 "$lab/fetch"
	check_semantics 2>"$tmp/err"
	printf '%s\n' 'no way' \
		'linux-tree: without coccicheck: the lab cannot fetch coccinelle' |
		diff - "$tmp/err"
	echo "lab_dir=$tmp/none" >"$lab/lib.sh"
	check_semantics 2>"$tmp/err"
	echo 'linux-tree: without coccicheck: spatch is not installed' | diff - "$tmp/err"
}

# The table of the page has what checkpatch is not asked for, and nothing else.
types()
{
	sed -n '/^judge_commits/,/^$/p; /^\tprograms+=/p; /^\tignored+=/p' $linux_tree |
		grep -oE '\b[A-Z]+(_[A-Z]+)*\b' | grep -vx HEAD | sort -u >"$tmp/have"
	[ "$(wc -l <"$tmp/have")" -gt 5 ]
	sed -n '/^checkpatch is not asked for/,/^The source files/p' packaging/linux-tree/README.md |
		sed -n 's/^| \(`[A-Z].*`\) | .*/\1/p' | grep -oE '[A-Z_]+' |
		sort | diff "$tmp/have" -
}

plan 13
check 'a tree in the repository of something else is refused' other_repository
check 'other folders that are no tree with commits are refused' other_trees
check 'after a step that fails the tree is as before' failures
check 'without perl nothing is judged' without_perl
check 'two kinds of tests can be asked for' both_options
check 'after a signal the tree is as before' stopped
check 'a tree gets the commits once' commits
check 'the page names what checkpatch is not asked for' types
check 'a symbol that the tree does not export is named' exports
check 'tests that fail, skip or are not there are no success' results
check 'a report of coccicheck is a failure' semantics
check 'a file that sparse did not look at is a failure' looked_at
check 'why there is no coccicheck is said' no_coccinelle
ktap_finished
