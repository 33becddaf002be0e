# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Functions for tests of the tool without a device: they make sysfs and debugfs
# trees below $root, where the tool finds them by MLX5EP_ROOT.

# shellcheck disable=SC2154 # lib.sh sets tmp
root=$tmp/root
export MLX5EP_ROOT=$root

# fake DEVICE PCI [attached]: makes an mlx5 device, if asked with the module's
# attributes. Everybody may read it, as sysfs.
fake()
(
	local dir=$root/sys/class/infiniband/$1
	local pci=$root/sys/devices/pci0000:00/$2
	local bar=$((32 << 20))

	umask 022
	mkdir -p "$dir" "$pci/mlx5_core.rdma.0" "$pci/infiniband_verbs/uverbs0" \
		"$root/sys/bus/pci/drivers/mlx5_core" "$root/proc"
	ln -sfn "$pci" "$dir/device"
	ln -sfn "$root/sys/bus/pci/drivers/mlx5_core" "$pci/driver"
	truncate -s $bar "$pci/resource0"
	[ -n "${3:-}" ] || return 0
	mkdir -p "$dir/mlx5_ep" "$root/sys/module/mlx5_ep/parameters" \
		"$root/sys/kernel/debug/mlx5_ep/$2"
	echo yes >"$dir/mlx5_ep/attached"
	cat >"$dir/mlx5_ep/uverbs_ids" <<-END
	object xrc_rcv_qp 0x100a
	object notifier 0x100b
	method device context_dump 0x1004
	method device context_query 0x1005
	method device context_set_policy 0x1006
	method device query_features 0x1007
	method qp list 0x1006
	method qp query_uuar 0x1007
	END
	echo 1 >"$dir/mlx5_ep/abi_version"
	echo stock >"$dir/mlx5_ep/uuar_policy"
	printf '0\n' | tee "$dir"/mlx5_ep/uuar_{strict,pages,fallbacks} \
		"$dir"/mlx5_ep/uar_{budget,user_limit,in_use,observed} \
		"$dir"/mlx5_ep/xrc_{domains,qps,registrations} >/dev/null
	echo 6144 >"$dir/mlx5_ep/uar_budget_effective"
	printf '%s 0\n' uar_budget uar_user_limit uar_cgroup_limits \
		strict_context strict_qp >"$dir/mlx5_ep/refusals"
	echo >"$dir/mlx5_ep/uuar_exempt"
	echo Y >"$root/sys/module/mlx5_ep/parameters/attach"
	cat >"$root/sys/kernel/debug/mlx5_ep/$2/contexts" <<-END
	pid policy strict source managed static dynamic low_latency qps placed used_pages used_uuars shared_uuars comm
	4711 independent 0 device 1 16 0 4 3 3 2 2 1 my program
	4712 stock 0 exempt 0 0 5 4 3 0 0 0 0 a-name-that-is-much-longer-than-the-table-has-room-for-in-a-hundred-columns
	END
	cat >"$root/sys/kernel/debug/mlx5_ep/$2/uuars" <<-END
	pid uar page slot qps locked blueflame
	4711 33 1 0 2 1 1
	4711 34 2 1 0 0 1
	4711 - 0 1 1 1 0
	END
	printf 'uid contexts pages\n1000 2 21\n' \
		>"$root/sys/kernel/debug/mlx5_ep/$2/users"
	cat >"$root/sys/kernel/debug/mlx5_ep/$2/qps" <<-END
	pid qpn uar page slot level uuar_qps page_qps placer
	4711 0x12 33 1 0 3 2 2 policy
	4712 0x13 - - - - - - driver
	END
)

fresh()
{
	rm -rf "$root"
	mkdir -m 755 "$root"
}
