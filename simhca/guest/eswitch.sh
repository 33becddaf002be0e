# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# The e-switches of two HCAs. A netdev whose e-switch is in switchdev mode must be in the
# network namespace of its device, and cannot leave it. So the first netdev stays where
# it is, and the second device as a whole goes to a namespace. Sourced after
# selftests/lib/lib.sh and simhca/guest/two_ends.sh.

in_a()
{
	"$@"
}

# pci_of NAME: prints devlink's name of the HCA below that RDMA device
pci_of()
{
	echo "pci/$(basename "$(readlink -f "/sys/class/infiniband/$1/device")")"
}

pci_a=$(pci_of mlx5_0)
pci_b=$(pci_of mlx5_1)

# mode [legacy|switchdev]: sets the mode of the first HCA, or prints it
mode()
{
	if [ $# -gt 0 ]; then
		devlink dev eswitch set "$pci_a" mode "$1"
	else
		devlink -j dev eswitch show "$pci_a" | jq -r '.dev[].mode'
	fi
}

# switch FIELD [HCA]: what the adapter says of its e-switch
switch()
{
	simhca-ctl dump | jq -c ".hcas[${2:-0}].eswitch.$1"
}

# rdma_a: prints the folder in sysfs of the first HCA's RDMA device, whatever its name is
# after a reload of the driver
rdma_a()
{
	local folders=("/sys/bus/pci/devices/${pci_a#pci/}/infiniband"/*)

	[ -e "${folders[0]}" ] && echo "${folders[0]}"
}

# rdma_ports: prints how many ports it has
rdma_ports()
{
	local ports

	ports=("$(rdma_a)"/ports/*)
	[ -e "${ports[0]}" ] && echo ${#ports[@]}
}

# representor: the mode becomes switchdev, and the RDMA device that of representors: a
# port for the function, which has none, and the uplink's
representor()
{
	mode switchdev
	becomes 20 2 rdma_ports
	[ "$(mode) $(switch on)" = 'switchdev true' ]
	carrier
}

# legacy: the way back
# shellcheck disable=SC2120
legacy()
{
	mode legacy
	becomes 20 1 rdma_ports
	[ "$(mode) $(switch on) $(switch tables)" = 'legacy false 0' ]
	carrier
}

carrier()
{
	# two_ends.sh sets it
	# shellcheck disable=SC2154
	becomes 20 1 cat "/sys/class/net/$a/carrier"
}

eswitch_ends_up()
{
	ip netns add b
	in_b ip link set lo up
	ip addr add 192.0.2.1/24 dev "$a"
	ip addr add 2001:db8::1/64 dev "$a" nodad
	ip link set "$a" up
	carrier
	second_end
}

# The driver makes the second netdev anew, with the name that is free there.
second_end()
{
	local name

	devlink dev reload "$pci_b" netns b
	wait_for 20 netdev_of_b >/dev/null
	name=$(netdev_of_b)
	# two_ends.sh sets it
	# shellcheck disable=SC2154
	[ "$name" = "$b" ] || ip -n b link set "$name" down name "$b"
	ip -n b addr add 192.0.2.2/24 dev "$b"
	ip -n b addr add 2001:db8::2/64 dev "$b" nodad
	ip -n b link set "$b" up
	becomes 20 1 in_b cat "/sys/class/net/$b/carrier"
}

netdev_of_b()
{
	ip -n b -j link show | jq -er '.[].ifname | select(. != "lo")'
}
