# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What tests there are and what each of them needs.
#
# A test is NAME_test.c or NAME_test.sh. Its first lines hold one of the form
#	runs on: guest, hca: 2, smp: 2, module: no, timeout: 120
# which the runner obeys. Words: guest or host; tier: core (make check runs it) or full;
# oldest: yes (make check runs it on the oldest kernel too); hca and smp (at least so many);
# mem; numa (memory nodes); link: eth (what the ports speak, else what --link says);
# function: vf (the HCAs are virtual functions), port (each two are a card);
# eswitch: yes (each HCA has an e-switch that a driver can program; with link: eth);
# module: yes (default), no, later, dkms; args: module parameters; guest: WORD (a guest
# that only tests with the same word share); kernels: the only ones where it
# makes sense (gcov goes with newest and with debug);
# config: options of the kernel that it needs, see selftests/config;
# instrument: kcov (the module tells the fuzzer which code ran; on debug only);
# icount: yes (one CPU, which counts its instructions and takes them for the time);
# timeout: seconds; long: yes (only with --long).

# The folders that have tests.
test_folders=(selftests userlib lab packaging simhca workloads)

# test_files [FOLDER...]: prints the source of each test in these folders (default: in
# test_folders), sorted by name without the folder
test_files()
{
	local folder
	local -a there=()

	[ $# -gt 0 ] || set -- "${test_folders[@]}"
	for folder; do
		[ ! -d "$folder" ] || there+=("$folder")
	done
	find "${there[@]}" -name '*_test.c' -printf '%f %p\n' \
		-o -name '*_test.sh' -printf '%f %p\n' | sort | cut -d' ' -f2-
}

# test_name FILE: prints the name of the test
test_name()
{
	local base=${1##*/}

	base=${base%.*}
	printf '%s\n' "${base%_test}"
}

# test_program FILE: prints the program to execute
test_program()
{
	case $1 in
	*.sh) printf '%s\n' "$1" ;;
	*) printf 'build/selftests/%s_test\n' "$(test_name "$1")" ;;
	esac
}

# test_header FILE: prints the header as KEY=VALUE lines, nothing if there is
# none
test_header()
{
	sed -n '1,12s/^.*runs on: *\(.*[^ ]\).*$/\1/p' "$1" | head -n 1 |
		sed 's,[ ]*\*/.*$,,' | tr ',' '\n' |
		sed -n -e 's/^ *\(guest\|host\) *$/where=\1/p' \
			-e 's/^ *\([a-z]*\) *: *\(.*[^ ]\) *$/\1=\2/p'
}
