#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: core
#
# What mlx5ep run gives a program by the environment, on a made-up tree: the library is
# preloaded by an absolute path, before what is preloaded already. Where that cannot be,
# the program runs without it and the reason is said; with --strict it does not run.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

tool=${TOOL:-$PWD/build/bin/mlx5ep}
# shellcheck source=selftests/tool/fake.sh
. selftests/tool/fake.sh

# The program that is started. The library in it asks no device for anything here, as it
# opens none. Memory that the shell loses is none of this test's business.
program=(env ASAN_OPTIONS=detect_leaks=0 sh -c 'echo "$LD_PRELOAD"; echo "$MLX5EP_POLICY"')

# A library with ASan could not be preloaded into a shell, so the tool has the one
# without.
export LD_LIBRARY_PATH=$PWD/build/lib

policy_is_told()
{
	fresh
	fake mlx5_0 0000:01:00.0 attached
	code 0 "$tool" run --policy independent -- "${program[@]}"
	grep -Eqx '/.*/mlx5ep/policy\.so' "$tmp/out"
	[ -r "$(head -n 1 "$tmp/out")" ]
	grep -qx 'independent 0 0' "$tmp/out"
	code 0 "$tool" run --policy shared-uar --pages 9 --strict -- "${program[@]}"
	grep -qx 'shared-uar 1 9' "$tmp/out"
	[ ! -s "$tmp/err" ]
}

others_stay()
{
	local first

	fresh
	fake mlx5_0 0000:01:00.0 attached
	# The loader says that it finds no such library, and goes on.
	code 0 env LD_PRELOAD=/nowhere/other.so "$tool" run --policy stock -- \
		"${program[@]}"
	first=$(head -n 1 "$tmp/out")
	[[ $first = /*/policy.so:/nowhere/other.so ]] || fail "$first"
}

# libraries FOLDER: a copy of the libraries of the tool, where the loader is to find them
libraries()
{
	mkdir -p "$1/lib"
	cp -r build/lib/libmlx5ep.so.0 build/lib/mlx5ep "$1/lib/"
}

# The loader names a library by the search path, which may be relative. It takes a blank
# in a name for the end of it.
search_paths()
{
	local deep

	fresh
	fake mlx5_0 0000:01:00.0 attached
	libraries "$tmp/plain"
	code 0 env -C "$tmp/plain" LD_LIBRARY_PATH=lib "$tool" run --policy independent \
		-- "${program[@]}"
	[ "$(head -n 1 "$tmp/out")" = "$(cd "$tmp/plain" && pwd -P)/lib/mlx5ep/policy.so" ]
	libraries "$tmp/a b"
	code 1 env LD_LIBRARY_PATH="$tmp/a b/lib" "$tool" run --policy independent \
		--strict -- "${program[@]}"
	grep -q 'a b/lib/mlx5ep/policy.so cannot be preloaded: its path has a blank' \
		"$tmp/err"
	# A folder whose name is longer than a path may be here.
	deep=$tmp/$(printf 'folder/%.0s' {1..90})
	libraries "$deep"
	code 1 env -C "$deep" LD_LIBRARY_PATH=lib "$tool" run --policy independent \
		--strict -- "${program[@]}"
	grep -q 'mlx5ep: lib/mlx5ep/policy.so: ' "$tmp/err"
	rm "$tmp/plain/lib/mlx5ep/policy.so"
	code 1 env LD_LIBRARY_PATH="$tmp/plain/lib" "$tool" run --policy independent \
		--strict -- "${program[@]}"
	grep -q 'plain/lib/mlx5ep/policy.so is missing: install mlx5ep again' "$tmp/err"
}

without_the_library()
{
	fresh
	code 0 "$tool" run --policy independent -- "${program[@]}"
	grep -q 'the module is not loaded: modprobe mlx5_ep' "$tmp/err"
	! grep -q policy.so "$tmp/out" || fail 'it is preloaded'
	code 3 "$tool" run --policy independent --strict -- "${program[@]}"
	[ ! -s "$tmp/out" ] || fail 'the program ran'
	fake mlx5_0 0000:01:00.0 attached
	echo 'not attached' >"$root/sys/class/infiniband/mlx5_0/mlx5_ep/attached"
	code 3 "$tool" run --policy independent --strict -- "${program[@]}"
	grep -q 'attached to no device: mlx5ep doctor' "$tmp/err"
	[ ! -s "$tmp/out" ]
}

# Without a policy the library for UCX is preloaded. It need not be installed.
ucx_library()
{
	local library

	fresh
	# The library needs no more than the file of notifiers.
	fake mlx5_0 0000:01:00.0 attached
	echo 'policies, limits; the rest when the device registers again' \
		>"$root/sys/class/infiniband/mlx5_0/mlx5_ep/attached"
	mkdir "$tmp/bin"
	cp "$tool" "$tmp/bin/mlx5ep"
	libraries "$tmp/other"
	code 1 env LD_LIBRARY_PATH="$tmp/other/lib" "$tmp/bin/mlx5ep" run --strict -- \
		"${program[@]}"
	grep -q 'libmlx5ep-ucx.so.0: .*; install the package of libmlx5ep-ucx' "$tmp/err"
	[ -e build/lib/libmlx5ep-ucx.so.0 ] || return 0
	cp build/lib/libmlx5ep-ucx.so.0 "$tmp/other/lib/"
	code 0 env LD_LIBRARY_PATH="$tmp/other/lib" "$tmp/bin/mlx5ep" run --strict -- \
		"${program[@]}"
	library=$(head -n 1 "$tmp/out")
	[ "$library" = "$tmp/other/lib/libmlx5ep-ucx.so.0" ] || fail "$library"
}

# The loader preloads nothing into a program of another architecture, without a word.
obstacles()
{
	fresh
	fake mlx5_0 0000:01:00.0 attached
	cp "$(type -P true)" "$tmp/foreign"
	printf '\377' | dd of="$tmp/foreign" bs=1 seek=18 conv=notrunc
	code 1 "$tool" run --policy independent --strict -- "$tmp/foreign"
	grep -q "$tmp/foreign .*: give its cgroup or the device the policy" "$tmp/err"
	code 1 "$tool" run --strict -- "$tmp/foreign"
	grep -q "$tmp/foreign .*: UCX in it has its own hooks" "$tmp/err"
}

exit_codes()
{
	fresh
	fake mlx5_0 0000:01:00.0 attached
	code 7 "$tool" run --policy stock -- sh -c 'exit 7'
	code 127 "$tool" run --policy stock -- /nowhere/program
	code 126 "$tool" run --policy stock -- "$root"
	code 2 "$tool" run --sooner -- true
	must_fail grep -q 'a command is needed' "$tmp/err"
	code 0 "$tool" run --help
	grep -q '^Usage: mlx5ep .* run \[--policy' "$tmp/out"
	code 2 "$tool" run --policy fair -- true
	grep -q -- 'run: --policy fair: ' "$tmp/err"
	code 2 "$tool" run --policy stock --pages 257 -- true
	code 2 "$tool" run --pages 3 -- true
	grep -q -- '--pages needs --policy' "$tmp/err"
	code 2 "$tool" -d mlx5_0 run --policy stock -- true
	grep -q -- '-d mlx5_0: ' "$tmp/err"
	code 2 "$tool" run --policy stock
	grep -q 'a command is needed' "$tmp/err"
}

plan 7
check 'the program is told policy, strict and pages' policy_is_told
check 'what is preloaded already comes behind' others_stay
check 'the name of the library is absolute and has no blank' search_paths
check 'without the module the program runs as it is' without_the_library
check 'without a policy UCX is told' ucx_library
check 'a program that cannot be told is named' obstacles
check 'exit codes are those of the program' exit_codes
ktap_finished
