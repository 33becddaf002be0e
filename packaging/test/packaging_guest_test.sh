#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, smp: 2, timeout: 3600
#
# The life of the Debian packages on a node, on each of Debian's kernels: the module
# cannot be built and the node boots all the same; it is built, and the node boots and
# is attached before its first user; an upgrade with users running; the next version
# boots; downgrade, remove, purge, and a boot without a trace. Each boot is a guest of
# its own, which has what those before it have written to their disk. The upgrade is
# installed in the guest, all else while the node is off (packaging_node.sh).
#
# MLX5_EP_KERNEL=7.2 chooses one kernel. With the name of a step and the folder of the
# node this script is what runs on the node.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh
# shellcheck source=selftests/tool/boot.sh
. selftests/tool/boot.sh

packages='libmlx5ep0 libmlx5ep-fi0 libmlx5ep-dev libmlx5ep-fi-dev libmlx5ep-ucx0
	mlx5ep-tools mlx5ep-tests mlx5-ep-dkms'
header=/lib/modules/$release/source/include/rdma/ib_verbs.h
stock='mlx5_ep: not loaded: devices are stock; mlx5ep doctor says why'

# --- on the node -------------------------------------------------------------

# states: prints the states of the packages, each once
states()
{
	# shellcheck disable=SC2086 # a list
	dpkg-query -Wf '${db:Status-Status}\n' $packages 2>/dev/null | sort -u
}

# installed_is VERSION: DKMS has installed this version and no other
installed_is()
{
	[ "$(states)" = installed ]
	[ "$(modinfo -k "$release" -F version mlx5_ep)" = "$1" ]
	[ "$(dkms status mlx5_ep)" = "mlx5_ep/$1, $release, x86_64: installed" ]
	[ "$(ls -d /usr/src/mlx5_ep-*)" = "/usr/src/mlx5_ep-$1" ]
	[ "$(/usr/bin/mlx5ep --version)" = "mlx5ep $1" ]
}

# runs VERSION: the device is attached to this version
runs()
{
	[ "$(cat "$ep/attached")" = yes ]
	[ "$(cat /sys/module/mlx5_ep/version)" = "$1" ]
}

is_stock()
{
	[ ! -d /sys/module/mlx5_ep ]
	uuar_traffic -q -n 2 -r 1
}

# traces: prints the files of the packages that are on the disk, and what names the
# module
traces()
{
	find /run/disk/disk/{etc,usr,var} -path "/run/disk/disk$PWD" -prune -o \
		\( -name '*mlx5_ep*' -o -name '*mlx5ep*' -o -name '*mlx5-ep*' \) \
		-print
	grep -l mlx5_ep "/lib/modules/$release"/modules.{dep,alias,symbols}{,.bin}
	dkms status | grep mlx5_ep
}

# A header of this kernel is missing, so the module cannot be built.
off_unbuilt()
{
	local line

	line='mlx5-ep-dkms: mlx5_ep was not built: devices are stock from the next'
	line+=" boot; see /var/lib/dkms/mlx5_ep/$(deb_version "$1/first")"
	line+=/build/make.log
	mv "$header" "$header.hidden"
	code 1 dpkg -i "$1"/first/*.deb
	[ "$(grep -h '^mlx5-ep-dkms: ' "$tmp/out" "$tmp/err")" = "$line" ]
	[ "$(states)" = $'half-configured\ninstalled' ]
	[ "$(dpkg-query -Wf '${db:Status-Status}' mlx5-ep-dkms)" = half-configured ]
}

boot_stock()
{
	dmesg | grep 'mlx5_ep:' | sed 's/^[^]]*\] //' >"$tmp/log"
	cat "$tmp/log"
	[ "$(cat "$tmp/log")" = "$stock" ]
	is_stock
	code 1 /usr/bin/mlx5ep doctor
	grep -qx 'problem: module: DKMS could not build mlx5_ep for this kernel' \
		"$tmp/out"
}

# The header is there, and dpkg tries again.
off_mended()
{
	mv "$header.hidden" "$header"
	install -D "$1/make" /usr/local/bin/make
	dpkg --configure -a
	installed_is "$(deb_version "$1/first")"
	printf '[device *]\npolicy = independent\n' >/etc/mlx5ep.conf
}

# upgraded NODE: installs the next version while a program of another user runs
upgraded()
{
	local user

	mkfifo -m 666 "$tmp/end"
	chmod 755 "$tmp"
	as_nobody "$(command -v uuar_traffic)" -q -n 4 -r 4 \
		-x "touch /tmp/runs; read -r word <$tmp/end" &
	user=$!
	wait_for 60 test -e /tmp/runs
	dpkg -i "$1"/next/*.deb
	[ "$(/usr/bin/mlx5ep show contexts | grep -c uuar_tra)" = 1 ]
	uuar_traffic -q -n 2 -r 1
	echo end >"$tmp/end"
	wait $user
}

# policy_at_boot VERSION: it is attached, and the first users of a boot have the policy
policy_at_boot()
{
	runs "$1"
	udev_start
	boot
	[ "$(cat "$tmp/opens")" = "independent $contexts" ]
}

boot_first()
{
	local old new line

	old=$(deb_version "$1/first")
	new=$(deb_version "$1/next")
	policy_at_boot "$old"
	upgraded "$1"
	runs "$old"
	installed_is "$new"
	code 0 /usr/bin/mlx5ep doctor
	line="warning: module: mlx5_ep is loaded: $new is installed, and $old runs"
	grep -qx "$line until the next boot" "$tmp/out"
}

boot_next()
{
	policy_at_boot "$(deb_version "$1/next")"
	code 0 /usr/bin/mlx5ep doctor
	grep -qx 'ok: module: mlx5_ep is loaded' "$tmp/out"
}

# shellcheck disable=SC2086 # a list
off_gone()
{
	dpkg -i "$1"/first/*.deb
	installed_is "$(deb_version "$1/first")"
	dpkg --remove $packages
	! modinfo -k "$release" mlx5_ep || fail 'the module is there'
	grep -qx 'policy = independent' /etc/mlx5ep.conf
	dpkg --purge $packages
	[ -z "$(traces)" ] || fail "$(traces)"
}

boot_purged()
{
	! dmesg | grep mlx5_ep: || fail 'the kernel log names the module'
	[ -z "$(traces)" ] || fail "$(traces)"
	is_stock
}

# shellcheck source=packaging/test/packaging_node.sh
. packaging/test/packaging_node.sh
case ${1:-} in
off_*|boot_*)
	"$@"
	pkill -x systemd-udevd || :
	exit ;;
esac

# --- on the host -------------------------------------------------------------

# The guest sees this checkout, so the disks of the nodes are in it.
mkdir -p build/check
top=$(mktemp -d "$PWD/build/check/node.XXXXXX")
trap 'rm -rf "$top" "$tmp"' EXIT
kernels=${MLX5_EP_KERNEL:-6.1 6.12 7.2 7.3}

versions()
{
	deb_build
	mkdir "$top/first"
	find build/deb -name "*.deb" ! -name "*-dbgsym_*" -exec \
		cp -t "$top/first/" {} +
	deb_next "$top/first" "$top/next"
}

# node KERNEL: a node with this kernel, whose folder is $top/KERNEL
node()
{
	local release

	release=$(basename /lib/modules/"$1".*)
	mkdir "$top/$1"
	cp -r "$top"/{first,next} "$top/$1/"
	module_build "$top/$1" "$release" "$top/first"
	module_build "$top/$1" "$release" "$top/next"
	make_of_node "$top/$1"
	uname_of_node "$top/$1" "$release"
	node_disk "$top/$1" "$release"
}

# boots KERNEL STEP
boots()
{
	lab/vm --kernel "$1" --no-module --smp 2 --timeout 900 \
		--disk "$top/$1/disk" -- "$0" "boot_$2" "$top/$1" >"$tmp/vm.out" 2>&1 || {
		tail -n 40 "$tmp/vm.out"
		fail "the boot '$2' failed"
	}
}

# off KERNEL STEP
off()
{
	on_disk "$top/$1" "$0" "off_$2" "$top/$1"
}

# shellcheck disable=SC2086 # a list
plan $((1 + 8 * $(wc -w <<<"$kernels")))
check 'there are packages of two versions' versions
for kernel in $kernels; do
	check "$kernel: there is a node" node "$kernel"
	check "$kernel: a build that fails is told in one line" off "$kernel" unbuilt
	check "$kernel: the node boots with the stock driver" boots "$kernel" stock
	check "$kernel: dpkg builds it when it can be built" off "$kernel" mended
	check "$kernel: it is attached before its first user, and upgraded under users" \
		boots "$kernel" first
	check "$kernel: the next version boots" boots "$kernel" next
	check "$kernel: downgrade, remove and purge leave nothing" off "$kernel" gone
	check "$kernel: the node boots as if nothing had been" boots "$kernel" purged
	rm -rf "${top:?}/$kernel"
done
ktap_finished
