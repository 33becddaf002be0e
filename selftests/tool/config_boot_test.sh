#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: config-boot, kernels: 6.1 6.12 7.2 7.3 newest, smp: 2, timeout: 400
#
# /etc/mlx5ep.conf is in force before the first program can open the device. The
# drivers are loaded as at boot: by modprobe with the configuration that is
# installed, while udev runs, and while a program of another user tries to open
# the device. It does not run on the debug kernel: the driver refuses contexts
# here, and each leaks its process in ib_uverbs, which kmemleak reports under the
# names of shells.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh
# shellcheck source=selftests/tool/boot.sh
. selftests/tool/boot.sh

pci=$(basename "$(readlink "/sys/class/infiniband/$dev/device")")

without_a_file()
{
	rm -f /etc/mlx5ep.conf
	boot
	[ "$(cat "$tmp/opens")" = "stock $contexts" ]
}

# As administration.md says it for an initramfs. The file that is installed sets nothing.
by_an_option()
{
	local option=/etc/modprobe.d/config_boot.conf

	echo 'options mlx5_ep defaults="* uuar_policy shared-uar; * uuar_pages 3"' >$option
	cp packaging/mlx5ep.conf /etc/
	boot
	rm $option
	[ "$(cat "$tmp/opens")" = "shared-uar $contexts" ]
	[ "$(cat /sys/module/mlx5_ep/parameters/defaults)" = \
		'* uuar_policy shared-uar; * uuar_pages 3' ]
}

from_the_first_open()
{
	cat >/etc/mlx5ep.conf <<-END
	[device $pci]
	policy = independent
	user_limit = 100
	exempt = a b
	[device *]
	policy = shared-uar
	pages = 8
	[module]
	notifiers_per_user = 77
	END
	boot
	[ "$(cat "$tmp/opens")" = "independent $contexts" ]
	[ "$(cd "$ep" && cat uuar_policy uuar_pages uar_user_limit \
		uuar_exempt)" = $'independent\n8\n100\na b' ]
	[ "$(cat /sys/module/mlx5_ep/parameters/notifiers_per_user)" = 77 ]
}

# As before, but the file is what set --save has made of it.
saved_ones()
{
	mlx5ep -d "$dev" set --policy shared-uuar --save
	mlx5ep set --policy shared-uuar --pages 4 --save
	boot
	[ "$(cat "$tmp/opens")" = "shared-uuar $contexts" ]
	[ "$(cat "$ep/uuar_pages")" = 4 ]
	code 0 mlx5ep show differs
	grep -qx none "$tmp/out"
}

# Why modprobe has to do it: udev alone is told too late.
udev_alone()
{
	mv /usr/lib/modprobe.d/mlx5ep.conf "$tmp/"
	boot
	mv "$tmp/mlx5ep.conf" /usr/lib/modprobe.d/
	echo "# progress: by udev alone the first contexts were: $(tr '\n' ' ' \
		<"$tmp/opens")" >&3
	[ "$(head -n 1 "$tmp/opens" | cut -d' ' -f1)" = stock ]
	[ "$(cat "$ep/uuar_policy")" = shared-uuar ]
}

# A device that is unbound and bound keeps what set has changed.
bound_again()
{
	boot
	mlx5ep set --pages 9
	ib_unbind
	ib_bind
	wait_for 60 test -e "$ep/uuar_pages"
	udev_done
	[ "$(cat "$ep/uuar_policy" "$ep/uuar_pages")" = $'shared-uuar\n9' ]
	# Nor does any other event of udev take it away.
	udevadm trigger --action=change --subsystem-match=infiniband
	udev_done
	[ "$(cat "$ep/uuar_pages")" = 9 ]
}

# A file with an error is not applied, and the device comes up nevertheless.
a_bad_file()
{
	echo 'policy = independent' >>/etc/mlx5ep.conf
	echo 'nonsense' >>/etc/mlx5ep.conf
	boot
	[ "$(cat "$tmp/opens")" = "stock $contexts" ]
	[ "$(cat "$ep/attached")" = yes ]
}

# has_new_name: sets name, and fails while the device has no name, or that of the kernel
has_new_name()
{
	name=$(ls /sys/class/infiniband)
	[ "$name" ] && [ "$name" != "$dev" ]
}

# rdma-core's rule names the device by its place, which is what most nodes have. The
# settings are those of the file, also where it has the new name.
renamed()
{
	local rule=/etc/udev/rules.d/60-rdma-persistent-naming.rules name

	printf '[device *]\npolicy = independent\n' >/etc/mlx5ep.conf
	ib_unload
	rmmod mlx5_ep
	rm $rule
	udevadm control --reload
	modprobe mlx5_ib
	wait_for 5 has_new_name || fail 'the device has its old name'
	udev_done
	[ "$(cat "/sys/class/infiniband/$name/mlx5_ep/uuar_policy")" = independent ]
	mlx5ep show | grep "^$name .* independent "
	mlx5ep -d "$name" set --policy shared-uar --save
	[ "$(. userlib/cli/mlx5ep.bash && _mlx5ep_devices)" = "$name" ]
	ib_unload
	rmmod mlx5_ep
	modprobe mlx5_ib
	wait_for 5 has_new_name
	udev_done
	[ "$(cat "/sys/class/infiniband/$name/mlx5_ep/uuar_policy")" = shared-uar ]
	ln -s /dev/null $rule
	udevadm control --reload
	rm /etc/mlx5ep.conf
	boot
}

# The device was there before the module, as where that is loaded on a running node.
loaded_late()
{
	printf '[device *]\npolicy = independent\nuser_limit = 77\n' >/etc/mlx5ep.conf
	ib_unload
	rmmod mlx5_ep
	mkdir -p "$tmp/no_softdep"
	modprobe -C "$tmp/no_softdep" mlx5_ib
	wait_for 20 [ -e "/sys/class/infiniband/$dev" ]
	udev_done
	[ ! -d /sys/module/mlx5_ep ]
	modprobe mlx5_ep
	grep -q '^policies, limits; ' "$ep/attached"
	[ "$(cat "$ep/uar_user_limit" "$ep/uuar_policy")" = $'77\nindependent' ]
	rm /etc/mlx5ep.conf
	boot
}

refused()
{
	local parameter=/sys/module/mlx5_ep/parameters/defaults bad

	echo '* uuar_pages 3; * uar_budget 10' >$parameter
	for bad in '*' '* uuar_pages' '* uuar_pages 257' '* uuar_policy fast' \
		'* nothing 1' '* uuar_exempt sixteen_letters_' \
		"* uuar_pages 5; x uuar_strict maybe"; do
		! echo "$bad" >$parameter || fail "accepted: $bad"
	done 2>/dev/null
	! printf '%04095d' 0 >$parameter || fail 'too long'
	[ "$(cat $parameter)" = '* uuar_pages 3; * uar_budget 10' ]
	echo >$parameter
	[ -z "$(cat $parameter)" ]
}

plan 11
check 'a node boots with modprobe and udev' a_node
check 'without a file the device is stock' without_a_file
check 'what the module was loaded with stays without a section' by_an_option
check 'each context has the policy of the file, the first too' \
	from_the_first_open
check 'and that of set --save' saved_ones
check 'udev alone comes after the first context' udev_alone
check 'a device that is bound again has its settings' bound_again
check 'a file with an error leaves a stock device' a_bad_file
check 'a device that udev names otherwise has its settings' renamed
check 'a device that was there before the module has its settings' loaded_late
check 'the module refuses what is no setting, whole' refused
pkill -x systemd-udevd || :
ktap_finished
