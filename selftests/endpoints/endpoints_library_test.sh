#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 240
#
# What a program meets that builds against libmlx5ep: headers that compile alone
# in every dialect, exactly the documented symbols, pkg-config, the static
# library, a sanitized build, and manual pages for every call.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

headers()
{
	(cd userlib/include && find . -name '*.h' | sed 's,^\./,,' | sort)
}

# alone COMPILER DIALECT LANGUAGE: compiles each header as the only include
alone()
{
	local header

	for header in $(headers); do
		echo "#include <$header>" |
			"$1" "-std=$2" -x "$3" -Wall -Wextra -Wpedantic -Werror \
			-fsyntax-only -Iuserlib/include -Iuapi -
	done
}

# public: prints the functions of the library that the headers declare or define
public()
{
	for header in $(headers | grep -v fi_monitor); do
		echo "#include <$header>"
	done | gcc -E -P -Iuserlib/include -Iuapi - |
		grep -oE '\b_?mlx5ep_[a-z0-9_]+\(' | tr -d '(' | sort -u
}

exported()
{
	nm -D --defined-only build/lib/libmlx5ep.so.0 | awk '$2 == "T" { print $3 }' |
		sed 's/@.*//' | sort -u
}

symbols()
{
	exported >"$tmp/exported"
	[ -s "$tmp/exported" ]
	# every symbol is versioned
	nm -D --defined-only build/lib/libmlx5ep.so.0 |
		awk '$2 == "T" && $3 !~ /@MLX5EP_/ { print; bad = 1 }
			END { exit bad }'
	# also what a header defines inline, for those who have no header
	diff <(public) "$tmp/exported"
	sed -n 's/^\t\t\([a-z0-9_]*\);$/\1/p' userlib/libmlx5ep.map |
		sort -u >"$tmp/map"
	diff "$tmp/map" "$tmp/exported"
}

soname()
{
	readelf -d build/lib/libmlx5ep.so.0 |
		grep -q 'SONAME.*\[libmlx5ep\.so\.0\]'
	# no text relocations, no executable stack
	if readelf -dlW build/lib/libmlx5ep.so.0 |
		grep -E 'TEXTREL|GNU_STACK.*RWE'; then
		fail "text relocations or an executable stack"
	fi
}

program()
{
	cat >"$tmp/p.c" <<-END
	#include <stdio.h>
	#include <mlx5ep.h>
	int main(void)
	{
		struct mlx5ep_endpoints_attr attr = { 0 };
		struct mlx5ep_endpoints_info info;

		attr.category = MLX5EP_CATEGORY_DYNAMIC;
		if (mlx5ep_endpoints_predict(&attr, 16, &info))
			return 1;
		printf("%u\n", info.uar_pages);
		return 0;
	}
	END
}

builds_with_pkg_config()
{
	local flags

	program
	PKG_CONFIG_PATH=build/lib/pkgconfig pkg-config --validate mlx5ep
	[ "$(PKG_CONFIG_PATH=build/lib/pkgconfig pkg-config --modversion \
		mlx5ep)" = "$(cat VERSION)" ]
	flags=$(PKG_CONFIG_PATH=build/lib/pkgconfig pkg-config --libs mlx5ep)
	# shellcheck disable=SC2086
	gcc -Wall -Werror -Iuserlib/include -Iuapi -o "$tmp/p" "$tmp/p.c" \
		-Lbuild/lib -Wl,--no-as-needed $flags
	[ "$(LD_LIBRARY_PATH=build/lib "$tmp/p")" = 16 ]
	# What the library alone calls is not the program's to link.
	readelf -d "$tmp/p" | grep -F 'NEEDED' >"$tmp/needed"
	grep -F '[libmlx5ep.so.0]' "$tmp/needed"
	! grep -F '[libmlx5.so' "$tmp/needed" || fail 'linked to libmlx5'
}

builds_static()
{
	local flags

	program
	gcc -Iuserlib/include -Iuapi -o "$tmp/p" "$tmp/p.c" \
		build/lib/libmlx5ep.a -libverbs -lmlx5 -lpthread
	[ "$("$tmp/p")" = 16 ]
	# The whole program, with what each library needs of the others.
	flags=$(PKG_CONFIG_PATH=build/lib/pkgconfig pkg-config --static --libs mlx5ep)
	[[ " $flags " = *' -lpthread '* ]] || fail "static: $flags"
	# shellcheck disable=SC2086
	gcc -static -Iuserlib/include -Iuapi -o "$tmp/p" "$tmp/p.c" \
		-Lbuild/lib $flags
	! readelf -d "$tmp/p" | grep NEEDED || fail 'not static'
	[ "$("$tmp/p")" = 16 ]
}

builds_with() # CC [SAN]
{
	make -s IN_LAB=1 -f userlib/userlib.mk lib CC="$1" SAN="${2:-}" \
		LIB_OUT="$tmp/out"
	[ -x "$tmp/out/bin/mlx5ep" ]
	"$tmp/out/bin/mlx5ep" plan -t 16 >/dev/null
	MLX5EP_ROOT=$tmp "$tmp/out/bin/mlx5ep" -j doctor >/dev/null || true
	rm -rf "$tmp/out"
}

private_headers()
{
	if grep -rnE '#include.*(driver\.h|cmd_ioctl|cmd_write|kern-abi|providers/mlx5)' \
		--include='*.[ch]' userlib; then
		fail "these belong to rdma-core alone"
	fi
}

# manual: checks the manual pages, with groff if it is installed
manual()
{
	local name missing=

	# A program calls the five OFED functions by their old names. It calls
	# those that take the size of a structure through inline functions.
	for name in $(exported | sed -n 's/^mlx5ep_ofed_/ibv_/; s/^_mlx5ep/mlx5ep/
		/^\(mlx5ep\|ibv\)_/p'); do
		grep -qr "^\.BI .*\b$name(" userlib/man || missing+=" $name"
	done
	[ -z "$missing" ] || fail "in no SYNOPSIS:$missing"
	for name in userlib/man/*.[0-9]; do
		for word in NAME SYNOPSIS DESCRIPTION 'SEE ALSO'; do
			# An overview (section 7) has nothing to call.
			[ "${name##*.}/$word" != 7/SYNOPSIS ] || continue
			grep -q "^\.SH $word" "$name" ||
				fail "$name: no $word"
		done
		command -v groff >/dev/null || continue
		groff -man -ww -Tutf8 "$name" 2>"$tmp/man" >/dev/null
		[ ! -s "$tmp/man" ] || fail "$name: $(head -n 3 "$tmp/man")"
	done
}

completion()
{
	local words

	# shellcheck disable=SC2016
	words=$(bash -c '. userlib/cli/mlx5ep.bash
		COMP_WORDS=(mlx5ep plan --category d) COMP_CWORD=3
		_mlx5ep
		echo "${COMPREPLY[@]}"')
	[ "$words" = dynamic ] || fail "completes to: $words"
	# shellcheck disable=SC2016
	words=$(bash -c '. userlib/cli/mlx5ep.bash
		COMP_WORDS=(mlx5ep "") COMP_CWORD=1
		_mlx5ep
		echo "${COMPREPLY[@]}"')
	for word in show set watch plan attach doctor; do
		[[ " $words " = *" $word "* ]] || fail "no $word in: $words"
	done
}

languages=(gcc:c99:c gcc:c11:c clang:c99:c clang:c11:c clang:c++11:c++ clang:c++17:c++)
if command -v g++ >/dev/null; then
	languages+=(gcc:c++17:c++)
fi
plan $((${#languages[@]} + 9))
for language in "${languages[@]}"; do
	IFS=: read -r compiler dialect lang <<<"$language"
	check "each header compiles alone as $dialect ($compiler)" \
		alone "$compiler" "$dialect" "$lang"
done
check "exactly the symbols of headers and map are exported, versioned" symbols
check "the library is a clean shared object" soname
check "a program builds and runs by pkg-config" builds_with_pkg_config
check "a program builds and runs with the static library" builds_static
check "library and tool build with clang" builds_with clang
check "library and tool build and run under ASan and UBSan" builds_with gcc 1
check "no private header of rdma-core is used" private_headers
check "every call and the tool have a manual page" manual
check "bash completes commands, options and categories" completion
ktap_finished
