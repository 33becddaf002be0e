#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: core
#
# The manual pages: complete, without a warning, and with the programs of examples/
# in them, each of which is built by the command in its first lines.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

pages=(build/man/*.3)

no_warning()
{
	local page

	for page in build/man/*.[0-9]; do
		mandoc -Tlint "$page" || fail "$page"
		# As man --warnings calls it.
		groff -t -man -Tutf8 -rLL=80n -ww -z "$page" 2>"$tmp/warnings"
		[ ! -s "$tmp/warnings" ] || fail "$(cat "$tmp/warnings")"
	done
}

# words: prints stdin with one blank between any two words
words()
{
	tr -s '[:space:]' ' ' | sed 's/^ //; s/ $//'
}

# quoted: fails if a page lacks one of its programs, or quotes another text of
# it
quoted()
{
	local page program

	for page in "${pages[@]}"; do
		program=$(sed -n 's|^\.\\" insert file \(examples/.*\.c\)|\1|p' \
			"userlib/man/${page##*/}")
		[ -n "$program" ] || fail "$page has no program"
		mandoc -Tascii -O width=200 "$page" | col -bx | words \
			>"$tmp/page"
		sed 1d "$program" | words >"$tmp/program"
		python3 - "$tmp" <<-'PY'
			import sys
			page, program = (open(sys.argv[1] + "/" + name).read()
					 for name in ("page", "program"))
			sys.exit(program not in page)
		PY
	done
}


complete()
{
	local page word

	for page in "${pages[@]}"; do
		for word in NAME SYNOPSIS DESCRIPTION 'RETURN VALUE' ERRORS \
			ATTRIBUTES EXAMPLES 'SEE ALSO'; do
			grep -q "^\.SH $word" "$page" || fail "$page: no $word"
		done
		grep -q '^\.SS Thread safety' "$page" ||
			fail "$page: nothing on threads"
		grep -q '^\.SS Structures' "$page" ||
			fail "$page: no structure"
	done
}

# described: each function that is exported or inline has a paragraph of its own, and
# a page that man finds by its name
described()
{
	local name

	{
		sed -n 's/^\t\t_*\(mlx5ep_[a-z_]*\);/\1/p' userlib/libmlx5ep.map \
			userlib/libfabric/*.map | sed 's/^mlx5ep_ofed_/ibv_/'
		cat userlib/include/mlx5ep/*.h | tr '\n' ' ' |
			grep -o 'static inline [^(]*(' |
			sed 's/.*[ *]\([a-z0-9_]*\)($/\1/'
	} | sort -u >"$tmp/functions"
	[ "$(grep -c _xrc_domain "$tmp/functions")" = 2 ]
	while read -r name; do
		grep -q "^\.BR $name ()$" "${pages[@]}" ||
			fail "$name is described in no page"
		sed -n '/^\.SH NAME/,/\\-/p' "${pages[@]}" | grep -qw "$name" ||
			fail "man $name finds nothing"
	done <"$tmp/functions"
}

# types_described: each structure and enumeration of a public header is in a page, and
# so are the enumerations of the kernel's interface, and those of its structures that a
# public header names, or the description of one that it names. Two are for the library
# alone: the flags of the ioctl that verifies, and those that creation answers.
types_described()
{
	python3 - "${pages[@]}" <<-'PY'
		import glob, re, sys
		described = re.findall(r"^\.B (?:struct|enum) (\w+)$",
			"".join(open(page).read() for page in sys.argv[1:]), re.M)
		public = "".join(open(h).read()
			for h in glob.glob("userlib/include/mlx5ep/*.h"))
		kernel = "".join(open(f"uapi/rdma/mlx5_ep_{h}.h").read()
			for h in ("notifier", "user_ioctl_verbs"))
		comment = r"/\*\*\n \* (?:struct|enum) (\w+) - ((?:(?!\*/).)*)\*/"
		wanted = set(re.findall(r"^(?:struct|enum) (\w+) \{", public, re.M))
		wanted |= set(re.findall(r"^enum (\w+) \{", kernel, re.M))
		wanted -= {"mlx5_ep_watch_verify_flags",
			"mlx5_ep_xrc_rcv_qp_reg_flags"}
		known = dict(re.findall(comment, kernel, re.S))
		text, n = public, -1
		while n != len(wanted):
		    n = len(wanted)
		    wanted |= known.keys() & set(re.findall(r"\w+", text))
		    text += "".join(known[name] for name in wanted & known.keys())
		missing = sorted(wanted - set(described))
		print(len(wanted), "types, in no page:", *missing)
		sys.exit(bool(missing) or len(wanted) < 40)
	PY
}

# module_described: each attribute and each parameter of the module is in mlx5_ep(4)
module_described()
{
	local name

	{
		sed -nE 's/^(XRC_)?COUNT\(([a-z_]+),.*/\2/p; s/^VALUE\(([a-z_]+)\).*/\1/p
			s/.*__ATTR_RO\(([a-z_]+)\).*/\1/p
			s/.*\.attr = \{ \.name = "([a-z_]+)".*/\1/p' kernel/sysfs.c
		grep -rhoE 'module_param(_named|_cb)?\([a-z_]+' kernel | sed 's/.*(//'
	} | sort -u >"$tmp/attributes"
	for name in uar_budget_effective uuar_cgroups xrc_qps refusals uuar_policy attach; do
		grep -qx $name "$tmp/attributes"
	done
	while read -r name; do
		grep -qE "^\.(B|BR|BI|RB|IR) (.* )?\"?$name\>" build/man/mlx5_ep.4 ||
			fail "mlx5_ep(4) has no $name"
	done <"$tmp/attributes"
}

# built: the command in its first lines builds each program, with an installed
# library
built()
{
	local program command

	mkdir -p "$tmp/include" "$tmp/pc" "$tmp/built"
	cp -r userlib/include/* uapi/rdma "$tmp/include"
	for pc in build/lib/pkgconfig/*.pc; do
		sed -e "s|^libdir=.*|libdir=$PWD/build/lib|" \
			-e "s|^includedir=.*|includedir=$tmp/include|" "$pc" \
			>"$tmp/pc/${pc##*/}"
	done
	cp examples/*.c "$tmp/built"
	cd "$tmp/built"
	for program in *.c; do
		command=$(sed -n 's/^ \*\t\(cc .*\)/\1/p' "$program")
		[ -n "$command" ] || fail "$program does not say how"
		PKG_CONFIG_PATH=$tmp/pc bash -c "$command -Wall -Werror"
		[ -x "${program%.c}" ] || fail "$command: no ${program%.c}"
	done
}

plan 7
check 'no page has a warning' no_warning
check 'each page of section 3 has all sections' complete
check 'each function is described' described
check 'each attribute and parameter of the module is described' module_described
check 'each structure and enumeration is described' types_described
check 'each page of section 3 has a program of examples/' quoted
check 'each program is built by the command in it' built
ktap_finished
