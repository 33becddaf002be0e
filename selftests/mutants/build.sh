# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # the variables of run and of the other parts
#
# The two copies of the checkout, and how a mutant is built in the first.
#
# A mutant of a header is compiled in all objects that have it. What make has built of a
# mutant is built again without it, because the source is put back with a new time.

# in_lab TARGET...: builds in the folder that builds
in_lab()
{
	(cd "$maker" && lab/enter make IN_LAB=1 "$@")
}

# build FILE: builds what host_items need of FILE, and sets $sum to a checksum of the code
# of FILE. A program of them may include FILE. If there are programs only, none needs the
# library.
build()
{
	local -a targets=()
	local item scripts=false

	for item in "${host_items[@]}"; do
		case $item in
		*.sh) scripts=true ;;
		*) targets+=("${item##*:}") ;;
		esac
	done
	[ ${#targets[@]} -gt 0 ] && ! $scripts || targets+=(lib)
	[[ $1 = kernel/* ]] || mapfile -t -O ${#targets[@]} targets < <(objects_of "$1")
	case $1 in
	kernel/*) sum=$(relinked "$1") &&
		{ [ ${#host_items[@]} = 0 ] || in_lab "${targets[@]}"; } ;;
	*) in_lab "${targets[@]}" && sum=$(code_of "$1") ;;
	esac >"$out/build.log" 2>&1
}

# relinked FILE: builds the module anew and prints a checksum of the code of FILE
relinked()
{
	local folder

	folder=$(dirname "$(module_in "$maker")")
	"$enter" selftests/mutants/relink "$folder" "$1" "${code[$1]:-}" \
		"$PWD/$out/mutant.ko" 2>>"$out/build.log"
}

# relinked_whole: gives the guest a module without a mutant that was linked as those with
# one are. If such a module cannot be loaded, each run without a mutant fails.
relinked_whole()
{
	relinked kernel/main.c >/dev/null
	mv "$out/mutant.ko" "$(module_in "$tree")"
}

# objects_of FILE: prints the objects of the library and the tool that have FILE in them
objects_of()
{
	case $1 in
	*.c) echo "build/obj/${1%.c}.o" ;;
	*) (cd "$maker" && find build/obj/userlib -name '*.d' -exec grep -lwF "$1" {} + |
		sed 's/d$/o/' | sort) ;;
	esac
}

# code_of FILE: prints a checksum of the code of all objects that have FILE in them
code_of()
{
	local -a objects

	mapfile -t objects < <(objects_of "$1")
	(cd "$maker" && "../../../$enter" sh -c 'for object; do
			objcopy -g "$object" "$object.code" && cat "$object.code" &&
				rm "$object.code" || exit
		done' - "${objects[@]}") | sha1sum
}

# code_before FILE: notes the checksum of its code without a mutant
code_before()
{
	local sum host_items=()

	build "$1" && code[$1]=$sum
}

# module_in TREE: prints the path of the module that was built there
module_in()
{
	find "$1/build/modules/$built_for" -name mlx5_ep.ko
}

# keep FILE FOLDER: copies what was built with a mutant in FILE to FOLDER/files
keep()
{
	local built place

	case $1 in
	kernel/*)
		place=$(module_in "$maker")
		place=$2/files/${place#"$maker"/}
		mkdir -p "${place%/*}"
		mv "$out/mutant.ko" "$place"
		return ;;
	esac
	in_lab lib >"$out/build.log" 2>&1
	while IFS= read -r built; do
		mkdir -p "$2/files/$(dirname "${built#"$maker"/}")"
		cp "$built" "$2/files/${built#"$maker"/}"
	done < <(find "$maker/build/lib" "$maker/build/bin/mlx5ep" -type f \
		-newer "$out/mark")
}

# put_back FILE: a source without a mutant. What make has built of the mutant is older
# than it then. If make has built nothing of it, the source has its old time too, because
# relink has put back what kbuild had built.
put_back()
{
	case $1:${#host_items[@]} in
	kernel/*:0) cp -p "$1" "$maker/$1" ;;
	*) cp "$1" "$maker/$1" ;;
	esac
}

# copies: makes the copies. The first time what is built is copied too; later sources
# that differ get a new time, so what was built from a mutant is built again.
copies()
{
	local -a how=(-rlpc)

	[ -d "$maker" ] || how=(-a)
	mkdir -p "$maker" "$tree"
	[ "${how[*]}" = -a ] || how+=(--exclude=/build)
	"$enter" rsync "${how[@]}" --delete --exclude=/.git --exclude='/build/check*' \
		--exclude='/build/mutants*' --exclude=/build/lab --exclude=/build/model \
		./ "$maker/"
	(cd "$maker" && make hca lib selftests && lab/build-module "$kernel") \
		>"$out/build.log" 2>&1 || {
		cat "$out/build.log" >&2
		exit 1
	}
	$host || {
		"$enter" rsync -a --delete --exclude=/build/queue "$maker/" "$tree/"
		relinked_whole
	}
}

# changed MUTANT: puts it into the copy where mutants are built
changed()
{
	(cd "$maker" && "../../../$enter" "$mutate" apply "$1")
}

# sanitized: builds the tool with ASan and UBSan
sanitized()
{
	in_lab -f userlib/userlib.mk lib SAN=1 >"$out/build.log" 2>&1
}
