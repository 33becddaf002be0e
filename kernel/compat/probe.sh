#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# probe.sh PROBES OUT CC FLAGS...: compile each PROBES/*.c against the kernel
# and write to OUT one "#define HAVE_<NAME> 0|1" per file. PROBES/control.c must
# compile and PROBES/control_fails.c must not, or the answers mean nothing. What
# the compiler said is kept beside OUT, in <OUT without .h>.log.
#
# A probe is judged by what it asks. Warnings that are errors in this kernel or build
# (CONFIG_WERROR, KCFLAGS=-Werror, W=e) do not count, but for those named here.
#
# PROBES/needs/*.c is what no kernel can do without. If one of them does not
# compile, its line "Needs: ..." is the error, and nothing is written.
set -eu

probes=$1
out=$2
shift 2
log=${out%.h}.log
tmp=$out.tmp

compiles()
{
	src=$1
	shift
	echo "== $src: $*" >>"$log"
	"$@" -Wno-error -Werror=implicit-function-declaration \
		-Werror=incompatible-pointer-types -Wno-unused \
		-Wno-missing-variable-declarations \
		-c -o "$out.o" "$src" >>"$log" 2>&1
}

mkdir -p "${out%/*}"
: >"$log"
if ! compiles "$probes/control.c" "$@"; then
	cat "$log" >&2
	echo "probe.sh: the control case does not compile" >&2
	exit 1
fi
if compiles "$probes/control_fails.c" "$@"; then
	echo "probe.sh: the case that must fail compiles" >&2
	exit 1
fi

for probe in "$probes"/needs/*.c; do
	if ! compiles "$probe" "$@"; then
		sed -n 's|^/\* Needs: \(.*\)\. \*/|mlx5_ep: this kernel lacks \1|p' \
			"$probe" >&2
		exit 1
	fi
done

echo "/* Written by probe.sh; see ${log##*/} beside it. */" >"$tmp"
for probe in "$probes"/*.c; do
	name=${probe##*/}
	name=$(echo "${name%.c}" | tr 'a-z' 'A-Z')
	case $name in CONTROL*) continue ;; esac
	if compiles "$probe" "$@"; then
		echo "#define HAVE_$name 1" >>"$tmp"
	else
		echo "#define HAVE_$name 0" >>"$tmp"
	fi
done
rm -f "$out.o"
mv "$tmp" "$out"
