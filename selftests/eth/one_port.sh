# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# A user of the adapter in the kernel has both its ends on one Ethernet port, and perhaps a
# disk. Sourced after selftests/lib/lib.sh.

address=192.0.2.1	# of the port

# netdev: prints the name of the port's netdev
# shellcheck disable=SC2154 # lib.sh sets dev
netdev()
{
	netdev_of "$dev"
}

# The port is up and has its address.
address_up()
{
	wait_for 20 netdev >/dev/null
	ip link set "$(netdev)" up
	ip addr replace "$address/24" dev "$(netdev)"
	wait_for 20 gid_there
}

# block_device PATH...: prints the name of the first of these folders of sysfs that is a
# disk
block_device()
{
	local path

	for path; do
		[ -b "/dev/$(basename "$path")" ] && basename "$path" && return
	done
	return 1
}
