#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: core
#
# The versions of the symbols of libmlx5ep.so.0. What a released version exports stays;
# a program that needs more than its library has is refused when it is loaded; one that
# was linked before a name moved to a later version still runs.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

lib=build/lib/libmlx5ep.so.0
list=selftests/endpoints/library_versions.list
read -r release <VERSION
in_the_making=MLX5EP_${release%.*}

# A line is "VERSION NAME".
released()
{
	sed '/^#/d' $list | sort
}

exported()
{
	readelf --dyn-syms -W $lib |
		sed -nE 's/.* (_?mlx5ep_[a-z0-9_]+)@@?(MLX5EP_[0-9.]+)$/\2 \1/p' | sort
}

kept()
{
	released >"$tmp/released"
	exported >"$tmp/exported"
	[ "$(wc -l <"$tmp/released")" -ge 62 ]
	comm -23 "$tmp/released" "$tmp/exported" >"$tmp/gone"
	[ ! -s "$tmp/gone" ] || fail "no longer exported: $(cat "$tmp/gone")"
	# What is not released yet has the version of the release that is next.
	comm -13 "$tmp/released" "$tmp/exported" | awk '{ print $1 }' |
		sort -u >"$tmp/new"
	[ "$(cat "$tmp/new")" = "$in_the_making" ]
}

# program NAME...: prints a program that says "main" and has the address of each NAME,
# or calls it if it is the only one
program()
{
	local name

	echo '#include <stdio.h>'
	printf 'void %s(void);\n' "$@"
	if [ $# = 1 ]; then
		printf 'int main(int argc, char **argv)
			{ puts("main"); if (argc > 1) %s(); return 0; }\n' "$1"
		return
	fi
	echo 'void (*volatile calls[])(void) = {'
	printf '%s,\n' "$@"
	echo '}; int main(void) { puts("main"); return !calls[0]; }'
}

# library FOLDER NAME...: a library as it was once: MLX5EP_0.1 is all that it has
library()
{
	local dir=$1

	shift
	mkdir "$dir"
	printf 'void %s(void) {}\n' "$@" >"$dir/lib.c"
	{
		echo 'MLX5EP_0.1 { global:'
		printf '%s;\n' "$@"
		echo 'local: *; };'
	} >"$dir/lib.map"
	gcc -shared -fPIC -fno-builtin -Wl,-soname,libmlx5ep.so.0 \
		-Wl,--version-script="$dir/lib.map" -o "$dir/libmlx5ep.so.0" "$dir/lib.c"
}

# The first builds had no domains. A program with a domain is bound to them lazily, so
# that without a version only its first call would tell.
refused_by_an_older_one()
{
	local first

	mapfile -t first < <(comm -23 <(released | sed 's/.* //') \
		<(exported | sed -n "s/^$in_the_making //p" | sort))
	[ "${#first[@]}" -ge 40 ]
	library "$tmp/old" "${first[@]}"
	program mlx5ep_domain_free >"$tmp/new.c"
	gcc -o "$tmp/new" "$tmp/new.c" -Wl,-z,lazy $lib -Wl,--allow-shlib-undefined
	[ "$(LD_LIBRARY_PATH=build/lib "$tmp/new")" = main ]
	code 1 env LD_LIBRARY_PATH="$tmp/old" "$tmp/new"
	[ ! -s "$tmp/out" ] || fail 'the program ran'
	grep -F "version \`$in_the_making' not found" "$tmp/err"
}

accepts_an_older_program()
{
	local names

	mapfile -t names < <(released | sed -n 's/^MLX5EP_0.1 //p')
	library "$tmp/former" "${names[@]}"
	program "${names[@]}" >"$tmp/before.c"
	gcc -fno-builtin -o "$tmp/before" "$tmp/before.c" "$tmp/former/libmlx5ep.so.0"
	[ "$(readelf --dyn-syms -W "$tmp/before" | grep -c '@MLX5EP_0.1')" = \
		"${#names[@]}" ]
	[ "$(LD_LIBRARY_PATH=build/lib LD_BIND_NOW=1 "$tmp/before")" = main ]
}

# The static library has each name once, and no version.
static_has_all()
{
	nm --defined-only build/lib/libmlx5ep.a |
		awk '$2 == "T" { print $3 }' >"$tmp/static"
	! grep @ "$tmp/static" || fail 'versions'
	exported | sed 's/.* //' | sort -u | while read -r name; do
		[ "$(grep -cx "$name" "$tmp/static")" = 1 ] || fail "$name"
	done
}

# says MAJOR.MINOR.PATCH: header, library and pkg-config name this release
says()
{
	cat >"$tmp/version.c" <<-END
	#include <stdio.h>
	#include <string.h>
	#include <mlx5ep.h>
	int main(void)
	{
		printf("%d.%d.%d\n", MLX5EP_VERSION_MAJOR, MLX5EP_VERSION_MINOR,
		       MLX5EP_VERSION_PATCH);
	#if MLX5EP_VERSION < MLX5EP_VERSION_NUMBER(0, 9, 0) || \\
	    MLX5EP_VERSION >= MLX5EP_VERSION_NUMBER(1000, 0, 0)
	#error MLX5EP_VERSION
	#endif
		return mlx5ep_version() != MLX5EP_VERSION ||
			strncmp(mlx5ep_version_string(), "$1", strlen("$1"));
	}
	END
	gcc -Wall -Werror -Iuserlib/include -Iuapi -o "$tmp/version" "$tmp/version.c" \
		$lib -Wl,--allow-shlib-undefined
	[ "$(LD_LIBRARY_PATH=build/lib "$tmp/version")" = "$1" ]
}

plan 5
check 'what a released version exports stays, and nothing is added to it' kept
check 'an older library is refused when the program is loaded' refused_by_an_older_one
check 'a program that was linked before a name moved runs' accepts_an_older_program
check 'the static library has the same calls' static_has_all
check 'header and library say which release they are' says "$release"
ktap_finished
