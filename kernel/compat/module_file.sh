# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Which file of a kernel's modules would be loaded: DKMS and OFED put theirs in
# updates/ or extra/, and the kernel's own is not used then.

# module_file FOLDER MODULE: print the file that modprobe would load, below FOLDER,
# which is /lib/modules/RELEASE of the kernel. Print nothing where there is none.
module_file()
{
	sed -n "s,^\([^:]*/$2\.ko[^:/]*\):.*,\1,p" "$1/modules.dep" \
		2>/dev/null | head -n 1
}
