#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 60
#
# Each check of `make lint` must fail on a small tree that breaks its rule, and
# pass on the same tree when it is mended.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

lint=$PWD/selftests/lint

# fresh: an empty tree; the rest of the check runs in it
fresh()
{
	rm -rf "$tmp/tree"
	mkdir -p "$tmp/tree"
	cd "$tmp/tree"
}

# write FILE: standard input becomes FILE, with the folders it needs
write()
{
	mkdir -p "$(dirname "$1")"
	cat >"$1"
}

# refused PATTERN CMD...: CMD fails, and a line of what it says matches
refused()
{
	local pattern=$1 status=0

	shift
	"$@" >"$tmp/said" 2>&1 || status=$?
	cat "$tmp/said"
	[ $status -eq 1 ] || fail "exit status $status, not 1"
	grep -qE -- "$pattern" "$tmp/said" || fail "nothing says $pattern"
}

# accepted CMD...: CMD succeeds and prints nothing
accepted()
{
	code 0 "$@"
	[ ! -s "$tmp/out" ] && [ ! -s "$tmp/err" ] || fail 'it is not silent'
}

# --- layers ------------------------------------------------------------------

# layers_tree ROW...: makes a tree where top.c calls base.c; ROWs are the table
layers_tree()
{
	fresh
	mkdir -p build/modules/1/kernel/sub
	write kernel/top.c <<<'int base_do(void); int top(void) { return base_do(); }'
	write kernel/sub/base.c <<<'int base_do(void) { return 0; }'
	gcc -c -o build/modules/1/kernel/top.o kernel/top.c
	gcc -c -o build/modules/1/kernel/sub/base.o kernel/sub/base.c
	printf '%s\n' '<!-- layers: kernel -->' '' '| layer | files |' \
		'|---|---|' "$@" | write Documentation/internals.md
}

layers_right()
{
	layers_tree '| top | `top.c` | text |' '| base | `sub/{base}.c` | text |'
	accepted "$lint/layers" kernel
}

layers_upward()
{
	layers_tree '| base | `sub/base.c` |' '| top | `top.c` |'
	refused 'top.c \(top\) -> sub/base.c \(base\): base_do' \
		"$lint/layers" kernel
}

layers_sideways()
{
	layers_tree '| both | `sub/base.c` |' '| both | `top.c` |'
	refused 'top.c \(both\) -> sub/base.c \(both\): base_do' \
		"$lint/layers" kernel
}

layers_files()
{
	layers_tree '| top | `top.c` |'
	refused 'kernel/sub/base.c is in no layer' "$lint/layers" kernel
	layers_tree '| top | `top.c` |' '| base | `sub/base.c` `gone.c` |'
	refused 'names kernel/gone.c, which does not exist' "$lint/layers" kernel
	layers_tree '| top | `top.c` |' '| base | `sub/base.c` `top.c` |'
	refused 'top.c is in .* twice' "$lint/layers" kernel
	rm build/modules/1/kernel/top.o
	refused 'kernel/top.c is not built' "$lint/layers" kernel
}

layers_no_table()
{
	layers_tree '| top | `top.c` |'
	refused 'has no table <!-- layers: tool -->' "$lint/layers" tool
}

# --- dead --------------------------------------------------------------------

# dead_tree: makes a tree where a.c or b.c uses all that a.c has
dead_tree()
{
	fresh
	write kernel/a.h <<-'END'
		#ifndef A_H
		#define A_H
		#define USED 1
		#define JOINED_ONE 2
		#define JOINED(n) JOINED_##n
		enum a { A_FIRST, A_SECOND, A_USED };
		struct a_set { int used; };
		int a_do(struct a_set *set);
		#endif
	END
	write kernel/a.c <<-'END'
		#include "a.h"
		static int a_local(void)
		{
		        return USED + A_USED + JOINED(ONE);
		}
		int a_do(struct a_set *set)
		{
		        return set->used + a_local();
		}
	END
	write kernel/b.c <<-'END'
		#include "a.h"
		static int b(struct a_set *set)
		{
		        return a_do(set);
		}
	END
}

dead_none()
{
	dead_tree
	accepted "$lint/dead"
}

dead_function()
{
	dead_tree
	sed -i 's/static int a_local/int a_local/' kernel/a.c
	refused 'kernel/a.c:2: a_local\(\) is used here only' "$lint/dead"
	# Neither a prototype nor a comment is a use.
	echo 'int a_local(void);' >>kernel/a.h
	echo '/* a_local() */' >>kernel/b.c
	refused 'a_local\(\) is used here only' "$lint/dead" kernel
	accepted "$lint/dead" userlib
	write userlib/library.map <<<'{ global: a_local; };'
	accepted "$lint/dead"
}

dead_macro()
{
	dead_tree
	printf '#ifndef SPARE\n#define SPARE 1\n#endif\n' >>kernel/b.c
	refused 'kernel/b.c:7: nobody uses the macro SPARE' "$lint/dead"
}

dead_constant()
{
	dead_tree
	sed -i 's/A_USED }/A_USED, A_LAST }/' kernel/a.h
	refused 'nobody uses the constant A_LAST' "$lint/dead"
	dead_tree
	sed -i 's/A_SECOND,/A_SECOND, A_THIRD = 7,/' kernel/a.h
	refused 'nobody uses the constant A_THIRD' "$lint/dead"
}

dead_member()
{
	dead_tree
	sed -i 's/int used;/int used; int unread;/' kernel/a.h
	refused 'nobody uses the member unread' "$lint/dead"
}

# --- kernel-doc --------------------------------------------------------------

# kdoc_of TEXT...: makes a function with this comment
kdoc_of()
{
	fresh
	{
		echo '/**'
		printf ' * %s\n' "$@"
		printf '%s\n' ' */' 'int add(int number,' '        int other)' '{' \
			'	return number + other;' '}'
	} | write kernel/a.c
}

kdoc_right()
{
	kdoc_of 'add() - sum of two numbers' '@number: above 0' \
		'@other: may be negative' '' 'Return: the sum.'
	accepted "$lint/kdoc"
	fresh
	write kernel/a.h <<-'END'
		/**
		 * struct a - what a file knows
		 * @fd: -1 while it is closed
		 * @at.line: counted from 1
		 */
		struct a {
			int fd;
			struct { int line; } at;
		};
	END
	accepted "$lint/kdoc"
}

kdoc_form()
{
	kdoc_of 'add - sum of two numbers'
	refused 'kernel/a.c:2: not `name\(\) - what it does`' "$lint/kdoc"
	kdoc_of 'sum() - sum of two numbers'
	refused 'kernel/a.c:[0-9]+: expecting prototype for sum' "$lint/kdoc"
	kdoc_of 'struct add - sum of two numbers'
	refused 'no struct add below' "$lint/kdoc"
	kdoc_of 'add() - sum of two numbers' '' 'Returns: the sum.'
	refused 'kernel/a.c:4: it is `Return:`' "$lint/kdoc"
}

kdoc_arguments()
{
	kdoc_of 'add() - sum of two numbers' '@third: may be negative'
	refused "kernel/a.c:[0-9]+: Excess function parameter 'third'" "$lint/kdoc"
	kdoc_of 'add() - sum of two numbers' '@number: the number'
	refused 'says what its name says: @number: the number' "$lint/kdoc"
	kdoc_of 'add() - sum of two numbers' '@number: above 0'
	refused "kernel/a.c:[0-9]+: .*parameter.* 'other' not described" "$lint/kdoc"
	write kernel/b.c <<-'END'
		/**
		 * struct b - what a file knows
		 * @fd: -1 while it is closed
		 */
		struct b {
			int fd;
			int (*read)(int fd);
		};
	END
	refused "kernel/b.c:[0-9]+: .*member 'read' not described" "$lint/kdoc"
	rm kernel/b.c
	mkdir userlib && mv kernel/a.c userlib/
	accepted "$lint/kdoc"
}

# --- words, names, pages, sizes -----------------------------------------------------

words_found()
{
	fresh
	write kernel/a.c <<<'int right, brig; /* rigorous */'
	write a.md <<<'Too late.'
	accepted "$lint/words"
	echo 'int rig_init;' >>kernel/a.c
	refused 'kernel/a.c:2: rig ==> verbs_setup' "$lint/words"
	write kernel/a.c <<<'bool late;'
	refused 'kernel/a.c:1: late ==> preexisting' "$lint/words"
	accepted "$lint/words" a.md
	printf '#!/bin/sh\necho rigs\n' | write tool
	refused 'tool:2: rigs ==> verbs_setup' "$lint/words" tool
	write a.md <<<'An adress.'
	refused 'a.md:1: adress ==> address' "$lint/words" a.md
}

names_found()
{
	fresh
	write userlib/include/mlx5ep/a.h <<-'C'
		enum mlx5ep_knob_flags {
			MLX5EP_KNOB_ROUND = 1 << 0,	/* MLX5EP_SQUARE */
		};
	C
	write uapi/rdma/b.h <<<'enum mlx5_ep_knob_methods { MLX5_EP_METHOD_TURN, };'
	accepted "$lint/names"
	sed -i 's/_KNOB_ROUND/_ROUND/' userlib/include/mlx5ep/a.h
	refused 'mlx5ep/a.h:2: MLX5EP_ROUND does not begin with MLX5EP_KNOB_$' \
		"$lint/names"
}

prototypes_found()
{
	local declared

	fresh
	write kernel/a.h <<-'C'
		#include <rdma/ib_verbs.h>
		/* int ib_mentioned(int a); */
		__printf(1, 2) int mlx5_ep_own(const char *fmt, ...);
		extern const char *const mlx5_ep_names[];
		static inline int compat_own(void)
		{
			struct ib_qp *qp = ib_called(1);

			if (qp)
				return ib_called(2);
			else
				ib_called(3);
		out:
			ib_called("int ib_text(int a);");
			return 0;
		}
	C
	accepted "$lint/prototypes"
	for declared in 'struct ib_qp *ib_x(struct ib_pd *pd);' 'extern int ib_x(void);' \
		'extern struct list_head ib_x[];' '__must_check int ib_x(void (*f)(int));' \
		'extern int ib_x __weak;' 'static int f(void) { extern int ib_x; }' \
		'static void f(void) { int ib_x(int a); }'; do
		write kernel/compat/b.c <<<"$declared"
		refused '^kernel/compat/b.c:1: declares ib_x, ' "$lint/prototypes"
	done
	write kernel/compat/b.c <<<'int mlx5_ep_x(void) asm("ib_x");'
	refused 'b.c:1: mlx5_ep_x is another name' "$lint/prototypes"
	write kernel/compat/b.c <<<'static void f(void) { g(__symbol_get("ib_x")); }'
	refused 'b.c:1: looks a symbol up' "$lint/prototypes"
}

pages_width()
{
	fresh
	printf '# A\n\n%098d x\n' 0 | write a.md
	accepted "$lint/pages"
	printf '%099d x\n' 0 | write Documentation/a.md
	refused 'Documentation/a.md:1: 101 columns, not 100' "$lint/pages"
}

pages_links()
{
	fresh
	printf '# A b: `c_d`\n\n[self](#a-b-c_d) [b](doc/b.md#b) [w](https://x.y/z)\n' |
		write a.md
	printf '# B\n\n[a](../a.md)\n' | write doc/b.md
	accepted "$lint/pages"
	printf '[a](../A.md)\n' | write doc/c.md
	refused 'doc/c.md:1: ../A.md does not exist' "$lint/pages"
	printf '[b](b.md#c)\n' | write doc/c.md
	refused 'doc/c.md:1: doc/b.md has no heading #c' "$lint/pages"
}

others_found()
{
	local table=Documentation/results/others.md

	fresh
	write README.md <<<'Plain.'
	write proof <<<x
	printf 'DKMS 3.2.2 skips\n*the* module. Here `x` is.\n' | write Documentation/a.md
	printf '# T\n\n## a.md\n\n- DKMS 3.2.2 skips the module.\n  shown by: `proof`\n' |
		write $table
	accepted "$lint/others"
	write README.md <<<'UCX 1.18.1 does it.'
	refused "$table: README.md has no item for: UCX 1.18.1 does it.$" "$lint/others"
	printf '\n## README.md\n\n- UCX 1.18.1 does it.\n  shown by: somebody\n' >>$table
	refused "$table: README.md, UCX 1.18.1 does it.: neither a file nor " "$lint/others"
	sed -i 's/somebody/read in UCX 1.18.1/' $table
	accepted "$lint/others"
	write Documentation/a.md <<<'DKMS 3.2.2 builds the module.'
	refused "$table: a.md does not say: DKMS 3.2.2 skips the module." "$lint/others"
	printf 'DKMS 3.2.2 skips the module.\n' | write Documentation/a.md
	mv proof gone
	refused "$table: a.md, DKMS .* module.: proof does not exist$" "$lint/others"
}

sizes_found()
{
	local i

	fresh
	for i in {1..45}; do write "a/$i" <<<''; done
	{
		printf 'static int f(int a,\n\t     int b)\n{\n'
		for i in {1..57}; do echo '	a++;'; done
		echo '}'
	} | write kernel/a.c
	refused 'kernel/a.c:1: f\(\): 61 lines, not 60' "$lint/sizes"
	sed -i '$d;4d' kernel/a.c
	echo '}' >>kernel/a.c
	accepted "$lint/sizes"
	write a/46 <<<''
	refused 'a: 46 files, not 45' "$lint/sizes"
	printf 'int x%d;\n' {1..501} | write kernel/b.c
	refused 'kernel/b.c:501: 501 lines' "$lint/sizes" kernel
}

# --- syzlang -----------------------------------------------------------------

# syzlang_tree: makes a header with one of each, its description, and the module
syzlang_tree()
{
	fresh
	write uapi/rdma/a.h <<-'END'
		#define MLX5_EP_KEY_MAX 8
		enum mlx5_ep_device_methods {
			MLX5_EP_METHOD_TURN = (1U << UVERBS_ID_NS_SHIFT),
		};
		enum mlx5_ep_turn_attrs {
			MLX5_EP_ATTR_TURN_REQ = (1U << UVERBS_ID_NS_SHIFT),
		};
		enum mlx5_ep_turn_flags {
			MLX5_EP_TURN_LEFT = 1 << 0,
		};
		struct mlx5_ep_turn {
			__aligned_u64 angle;
			__u8 key[MLX5_EP_KEY_MAX];
			__u32 flags;
		};
		#define MLX5_EP_IOC_STOP \
			_IOW('m', 0xe0, struct mlx5_ep_turn)
	END
	write selftests/syzkaller/mlx5_ep.txt <<-'END'
		resource fd_ep[fd]
		ioctl$MLX5_EP_TURN(fd fd_ep, arg ptr[in, ep_call[DEVICE, MLX5_EP_METHOD_TURN, 1, ep_turn]])
		ioctl$MLX5_EP_IOC_STOP(fd fd_ep, cmd const[MLX5_EP_IOC_STOP], arg ptr[in, mlx5_ep_turn])
		ep_turn {
			req	ep_in[MLX5_EP_ATTR_TURN_REQ, mlx5_ep_turn]
		}
		mlx5_ep_turn {
			angle	int64
			key	array[int8, MLX5_EP_KEY_MAX]
			flags	flags[mlx5_ep_turn_flags, int32]
		}
		mlx5_ep_turn_flags = MLX5_EP_TURN_LEFT
	END
	write kernel/a.c <<-'END'
		DECLARE_UVERBS_NAMED_METHOD(
			MLX5_EP_METHOD_TURN,
			UVERBS_ATTR_PTR_IN(MLX5_EP_ATTR_TURN_REQ,
					   UVERBS_ATTR_STRUCT(struct mlx5_ep_turn, flags),
					   UA_MANDATORY));
	END
}

# syzlang_refused PATTERN FILE SCRIPT: sed changes that file, which must be seen
syzlang_refused()
{
	syzlang_tree
	sed -i "$3" "$2"
	refused "$1" "$lint/syzlang"
}

syzlang_headers()
{
	local file=uapi/rdma/a.h

	syzlang_tree
	accepted "$lint/syzlang"
	syzlang_refused 'mlx5_ep_turn has 4 fields, not 3' $file \
		's/__u32 flags;/& __u32 more;/'
	syzlang_refused 'mlx5_ep_turn.flags has 2 bytes, not 4' $file \
		's/__u32 flags/__u16 flags/'
	syzlang_refused 'mlx5_ep_turn.key has 16 bytes, not 8' $file \
		's/key\[MLX5_EP_KEY_MAX\]/key[16]/'
	syzlang_refused 'only the headers has MLX5_EP_TURN_RIGHT' $file \
		's/.*TURN_LEFT.*/&\n\tMLX5_EP_TURN_RIGHT = 2,/'
	syzlang_refused 'nothing uses MLX5_EP_METHOD_STAY' $file \
		's/.*METHOD_TURN.*/&\n\tMLX5_EP_METHOD_STAY,/'
	syzlang_refused 'nothing uses MLX5_EP_ATTR_TURN_RESP' $file \
		's/.*TURN_REQ.*/&\n\tMLX5_EP_ATTR_TURN_RESP,/'
	syzlang_refused 'nothing uses MLX5_EP_IOC_GO' $file \
		's/^#define MLX5_EP_IOC_STOP/#define MLX5_EP_IOC_GO \\\n\t1\n&/'
	syzlang_refused 'nothing uses MLX5_EP_IOC_GO' $file \
		"s/^#define MLX5_EP_IOC_STOP/#define MLX5_EP_IOC_GO _IO('m', 0xe1)\n&/"
}

syzlang_description()
{
	local file=selftests/syzkaller/mlx5_ep.txt

	syzlang_refused 'no header has struct mlx5_ep_walk' $file \
		'$s/$/\nmlx5_ep_walk {\n\ta int32\n}/'
	syzlang_refused 'no header has enum mlx5_ep_walk_flags' $file \
		'$s/$/\nmlx5_ep_walk_flags = 0/'
	syzlang_refused 'no header has MLX5_EP_METHOD_WALK' $file \
		's/MLX5_EP_METHOD_TURN/MLX5_EP_METHOD_WALK/'
	syzlang_refused 'way is described where angle is' $file 's/angle/way/'
	syzlang_refused 'ep_turn has 1 attributes, not 2' $file \
		's/TURN, 1,/TURN, 2,/'
	syzlang_refused 'METHOD_TURN has no attribute MLX5_EP_ATTR_STAY' $file \
		's/MLX5_EP_ATTR_TURN_REQ/MLX5_EP_ATTR_STAY_REQ/'
}

# syzlang_both: the method of syzlang_tree has an attribute by a macro, which may be left
# out, and which only one of its two calls passes
syzlang_both()
{
	syzlang_tree
	sed -i 's/.*TURN_REQ.*/&\n\tMLX5_EP_ATTR_TURN_HOW,/' uapi/rdma/a.h
	sed -i 's/UA_MANDATORY));/UA_MANDATORY), HOW);/
		1s/^/#define HOW UVERBS_ATTR_PTR_IN(MLX5_EP_ATTR_TURN_HOW, UA_OPTIONAL)\n/' \
		kernel/a.c
	sed -i 's/^ioctl$MLX5_EP_TURN\(.*\) 1, ep_turn\(.*\)/&\nioctl$TURN_all\1 2, ep_all\2/
		$s/$/\nep_all {\n\treq ep_in[MLX5_EP_ATTR_TURN_REQ, mlx5_ep_turn]/
		$s/$/\n\thow ep_in[MLX5_EP_ATTR_TURN_HOW, mlx5_ep_turn]\n}/' \
		selftests/syzkaller/mlx5_ep.txt
}

# syzlang_both_refused PATTERN FILE SCRIPT: as syzlang_refused
syzlang_both_refused()
{
	syzlang_both
	sed -i "$3" "$2"
	refused "$1" "$lint/syzlang"
}

# Other methods may have attributes of the same name, so each method is looked at.
syzlang_attributes()
{
	local file=selftests/syzkaller/mlx5_ep.txt

	syzlang_both
	accepted "$lint/syzlang"
	syzlang_both_refused 'no call of MLX5_EP_METHOD_TURN passes MLX5_EP_ATTR_TURN_HOW' \
		$file '/TURN_all/s/METHOD_TURN/METHOD_OTHER/'
	syzlang_both_refused 'no call of MLX5_EP_METHOD_TURN leaves MLX5_EP_ATTR_TURN_HOW out' \
		$file '/^ioctl$MLX5_EP_TURN/d; /^ep_turn/,/^}/d'
	syzlang_both_refused 'a call of MLX5_EP_METHOD_TURN lacks MLX5_EP_ATTR_TURN_HOW' \
		kernel/a.c 's/UA_OPTIONAL/UA_MANDATORY/'
	syzlang_both_refused 'METHOD_TURN has no attribute MLX5_EP_ATTR_TURN_HOW' \
		kernel/a.c 's/, HOW);/);/'
}

# --- the fuzzer of the interface --------------------------------------------------

# fuzz_tree: makes a header, a module and a fuzzer with one method of two attributes
fuzz_tree()
{
	syzlang_tree
	mkdir -p selftests/fuzz
	write kernel/a.c <<-'END'
		#define BOTH							\
			UVERBS_ATTR_PTR_OUT(MLX5_EP_ATTR_TURN_RESP, UA_MANDATORY)
		DECLARE_UVERBS_NAMED_METHOD(
			MLX5_EP_METHOD_TURN,
			UVERBS_ATTR_PTR_IN(MLX5_EP_ATTR_TURN_REQ, UA_MANDATORY),
			BOTH);
	END
	write selftests/fuzz/methods.c <<-'END'
		#define TURN(name) MLX5_EP_ATTR_TURN_##name
		static const struct method methods[] = {
			{ DEVICE, MLX5_EP_METHOD_TURN,
			  { { TURN(REQ), ATTR_IN, 8 }, { TURN(RESP), ATTR_OUT, 8 } } },
		};
	END
	write selftests/fuzz/session.c <<-'END'
		METHOD(turn, 0)
		int stop = MLX5_EP_IOC_STOP;
	END
}

# fuzz_refused PATTERN FILE SCRIPT: sed changes that file, which must be seen
fuzz_refused()
{
	fuzz_tree
	sed -i "$3" "$2"
	refused "$1" "$lint/fuzz"
}

fuzz_complete()
{
	fuzz_tree
	accepted "$lint/fuzz"
	fuzz_refused 'no row for MLX5_EP_METHOD_STAY' uapi/rdma/a.h \
		's/.*METHOD_TURN.*/&\n\tMLX5_EP_METHOD_STAY,/'
	fuzz_refused 'no row for MLX5_EP_METHOD_LAST' uapi/rdma/a.h \
		's/.*METHOD_TURN.*/&\n\tMLX5_EP_METHOD_LAST/'
	fuzz_refused 'nothing uses MLX5_EP_IOC_GO' uapi/rdma/a.h \
		's/^#define MLX5_EP_IOC_STOP/#define MLX5_EP_IOC_GO \\\n\t1\n&/'
	fuzz_refused 'METHOD_TURN has no MLX5_EP_ATTR_TURN_MORE' kernel/a.c \
		's/BOTH)/UVERBS_ATTR_PTR_IN(MLX5_EP_ATTR_TURN_MORE, 0), &/'
	fuzz_refused 'METHOD_TURN takes no MLX5_EP_ATTR_TURN_RESP' kernel/a.c \
		's/,$/);/; s/METHOD_TURN);/METHOD_TURN,/; s/^\tBOTH.*//'
	fuzz_refused 'no kind of call is MLX5_EP_METHOD_TURN' \
		selftests/fuzz/session.c 's/METHOD(turn, 0)//'
}

# --- the series of linux-tree -----------------------------------------------------

# series_tree FILES: makes a tree whose series has FILES of a module of two objects
series_tree()
{
	fresh
	mkdir -p packaging/linux-tree
	cp "$lint/../../packaging/linux-tree/linux-tree" packaging/linux-tree/
	write packaging/linux-tree/rules <<<'s/compat_new\(/new(/'
	write packaging/linux-tree/series <<<"0-x $1 drivers/infiniband/hw/mlx5_ep"
	write kernel/compat/compat.h <<<'#define OLD_NAME (1)'
	write Kbuild <<<$'mlx5_ep-y := \\\n\tkernel/a.o \\\n\tkernel/b.o'
	write kernel/a.h <<<'int a(void);'
	write kernel/a.c <<<$'#include "a.h"\nint a(void) { return compat_new(); }'
	write kernel/b.c <<<'int b;'
}

series_right()
{
	series_tree 'kernel/[ab].[ch]'
	accepted packaging/linux-tree/linux-tree --rules
}

series_found()
{
	local rules=(packaging/linux-tree/linux-tree --rules)

	series_tree 'kernel/[ab].[ch]'
	echo 'int c = OLD_NAME;' >>kernel/b.c
	refused 'rules: no rule for kernel/b.c:2:int c' "${rules[@]}"
	series_tree 'kernel/[ab].[ch]'
	echo '/* 6.12 has none. */' >>kernel/b.c
	refused 'rules: no rule for kernel/b.c:2:/. 6.12' "${rules[@]}"
	series_tree 'kernel/[ab].[ch]'
	echo '/* Documentation/internals.md says why. */' >>kernel/b.c
	refused 'rules: no rule for kernel/b.c:2:/. Documentation' "${rules[@]}"
	series_tree 'kernel/[ab].[ch]'
	echo 's/x' >>packaging/linux-tree/rules
	refused 'the rules are no script for sed' "${rules[@]}"
	series_tree 'kernel/a.[ch]'
	refused 'series: no kernel/b.c' "${rules[@]}"
	series_tree 'kernel/[ab].c'
	refused 'series: no a.h, which kernel/a.c includes' "${rules[@]}"
}

plan 26
check 'layers: what the table allows passes' layers_right
check 'layers: a call to a higher layer fails' layers_upward
check 'layers: a call within a layer fails' layers_sideways
check 'layers: the table names each file that exists once' layers_files
check 'layers: a part without a table fails' layers_no_table
check 'dead: what is used passes' dead_none
check 'dead: a function of one file must be static' dead_function
check 'dead: a macro that nobody uses fails' dead_macro
check 'dead: a constant that nobody uses fails' dead_constant
check 'dead: a member that nobody uses fails' dead_member
check 'kdoc: the one form passes' kdoc_right
check 'kdoc: another form fails' kdoc_form
check 'kdoc: arguments exist, and say more than their names' kdoc_arguments
check 'words: names and prose are spelt right, without the words of the list' words_found
check 'names: an enumerator has the name of its enumeration' names_found
check 'prototypes: what is the kernel'\''s has a header of the kernel' prototypes_found
check 'pages: lines have 100 columns' pages_width
check 'pages: links lead somewhere' pages_links
check 'others: what a page says of other software has a proof' others_found
check 'syzlang: what a header has is described' syzlang_headers
check 'syzlang: what is described is in a header' syzlang_description
check 'syzlang: a method is called with each attribute, and without' syzlang_attributes
check 'fuzz: each method and attribute is fuzzed' fuzz_complete
check 'series: the whole module passes' series_right
check 'series: each rule, object and header is there' series_found
check 'sizes: folders, files and functions have limits' sizes_found
ktap_finished
