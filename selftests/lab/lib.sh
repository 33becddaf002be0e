# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Where the lab is, for the scripts beside this file.
#
# A lab is a folder $cache/lab-<stamp>, where the stamp is a hash of all that
# decides its content. setup makes it under another name and renames it when it
# is whole, so a folder of this name is always a lab that can be used; nobody
# writes to it afterwards.
#
# shellcheck disable=SC2034 # for those who read this file

lab_src=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
lab_top=$(readlink -f "$lab_src/../..")
lab_me=${0##*/}

lab_die()
{
	echo "$lab_me: $*" >&2
	exit 1
}

lab_cache=${MLX5_EP_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/mlx5_ep}
# Make, the kernel's command line, overlayfs and QEMU each take one of these
# characters for the end of a path.
for lab_path in "$lab_top" "$lab_cache"; do
	case $lab_path in
	*[[:space:],:\'\"\\\;\#\$\%\&\*\?\(\)\<\>\|]*)
		lab_die "the lab takes no path with a blank, a comma, a colon" \
			"or a quote: $lab_path" ;;
	esac
done

lab_stamp=$(cat "$lab_src/packages" "$lab_src/root-recipe" | sha256sum)
lab_stamp=${lab_stamp:0:12}
lab_dir=$lab_cache/lab-$lab_stamp

# lab_need: the lab must be there; makes it where it is not.
lab_need()
{
	[ -d "$lab_dir" ] || "$lab_src/setup" >&2 || exit 1
}

# The user who is not root is root in a user namespace of its own, with the ids
# of /etc/subuid; every part of the lab belongs to the same range of ids.
lab_as_root()
{
	if [ "$(id -u)" != 0 ]; then
		exec unshare --user --map-root-user --map-auto -- "$@"
	fi
}

# lab_kernels: the names of the kernel matrix, oldest first.
lab_kernels()
{
	cut -d' ' -f1 "$lab_dir/kernels"
}

# lab_release NAME: the release behind a name of the matrix, or behind itself.
lab_release()
{
	local rel

	rel=$(awk -v n="$1" '$1 == n || $2 == n { print $2; exit }' \
		"$lab_dir/kernels")
	[ "$1" != newest ] || rel=$(awk 'END { print $2 }' "$lab_dir/kernels")
	[ -n "$rel" ] || lab_die "no kernel $1, known are:" \
		"$(lab_kernels | tr '\n' ' ')"
	echo "$rel"
}

# lab_kernel NAME: where a kernel is; sets
#	krel		its release
#	kimage		what boots
#	kmodules	its /usr/lib/modules/<release>
#	kbuild		what modules are compiled against
# NAME is one of the matrix or a release, or debug or kcsan: kernels that are
# built here, when first asked for.
lab_kernel()
{
	local dir option=

	case $1 in
	debug|kcsan)
		[ "$1" = debug ] || option=--kcsan
		dir=$("$lab_src/debug-kernel" ${option:+"$option"})
		krel=$(cat "$dir/release")
		kimage=$dir/vmlinuz
		kmodules=$dir/modules
		kbuild=$dir/build ;;
	*)
		krel=$(lab_release "$1")
		kimage=$lab_dir/vmlinuz-$krel
		kmodules=$lab_dir/root/usr/lib/modules/$krel
		kbuild=/usr/lib/modules/$krel/build ;;
	esac
}
