#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 600
#
# What vm gives back: the command's output, byte for byte, its exit status, a
# failure for whatever the kernel complained of; and that guests can stand side
# by side.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

vm=lab/vm

# expect STATUS CMD...: it ends with that status, output in $tmp/out, $tmp/err
expect()
{
	local want=$1 got=0

	shift
	"$@" >"$tmp/out" 2>"$tmp/err" || got=$?
	[ "$got" = "$want" ] || {
		tail -n 15 "$tmp/err"
		fail "exit status $got, not $want"
	}
}

output_and_status()
{
	# Every byte there is, many times, and no end of line at the end.
	awk 'BEGIN { for (i = 0; i < 256; i++) printf "%c", i }' |
		LC_ALL=C tr -d '' >"$tmp/bytes"
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		cat "$tmp/bytes" "$tmp/bytes" >"$tmp/more"
		mv "$tmp/more" "$tmp/bytes"
	done
	mkdir -p build/lab
	cp "$tmp/bytes" "build/lab/bytes.$$"
	# shellcheck disable=SC2016 # for the guest
	expect 7 $vm --hca 0 -- bash -c 'cat "$0"; echo >&2 "on stderr";
		echo >/dev/stderr again; pwd >&2; exit 7' "build/lab/bytes.$$"
	rm "build/lab/bytes.$$"
	cmp "$tmp/bytes" "$tmp/out"
	grep -qx 'on stderr' "$tmp/err"
	grep -qx 'again' "$tmp/err"
	grep -qx "$PWD" "$tmp/err"
}

arguments()
{
	# shellcheck disable=SC2016 # for the guest
	expect 0 $vm --hca 0 -- bash -c 'printf "<%s>\n" "$@"
		[ ! -e /root/left ] && touch /root/left' x 'a  b' '' "q'\"\$x*" $'\n'
	printf '<%s>\n' 'a  b' '' "q'\"\$x*" $'\n' | cmp - "$tmp/out"
}

# The module is built, or looked at whether it must be, and not loaded.
module_later()
{
	# shellcheck disable=SC2016 # for the guest
	expect 0 $vm --kernel 7.2 --hca 0 --module-later -- bash -c '[ ! -d /sys/module/mlx5_ep ] &&
		modprobe ib_uverbs && insmod "build/modules/$(uname -r)/mlx5_ep.ko"'
	grep -q '^modules: 7.2 ' "$tmp/err"
	expect 0 $vm --kernel 7.2 --hca 0 --no-module -- true
	must_fail grep '^modules: ' "$tmp/err"
}

warning_in_the_log()
{
	expect 125 $vm --no-module -- sh -c 'echo "BUG: made by a test" >/dev/kmsg
		echo all is well'
	grep -q 'the kernel log has a report' "$tmp/err"
	grep -q 'BUG: made by a test' "$tmp/err"
	grep -q '^simhca: command [0-9]' "$tmp/err"
	grep -qx 'all is well' "$tmp/out"
}

# QEMU refuses this, so there is no console.
no_start()
{
	expect 125 $vm --hca 0 --mem 1X true
	grep -q 'guest 0 died' "$tmp/err"
	grep -q '1X' "$tmp/err"
}

crash()
{
	expect 125 $vm --hca 0 --timeout 200 -- sh -c \
		'echo c >/proc/sysrq-trigger; sleep 100'
	grep -q 'sysrq triggered crash' "$tmp/err"
}

unknown_option()
{
	expect 2 $vm --no-such-option
	expect 1 $vm --kernel 1.0 true
	expect 1 $vm --hca 3 --guests 2 true
	expect 1 $vm --link fc true
	grep -qx 'vm: --link is ib or eth, not fc' "$tmp/err"
	expect 1 $vm --smp 0 true
	grep -q 'at least one CPU' "$tmp/err"
}

# In the guests at the same time, told by what each sees of the other's file.
side_by_side()
{
	local mine=build/lab/meet.$$ one two

	mkdir -p "$mine"
	meet()
	{
		# shellcheck disable=SC2016 # for the guest
		$vm --no-module --timeout 300 -- bash -c 'touch "$0/$1"
			for _ in $(seq 200); do
				[ ! -e "$0/$2" ] || { echo met "$2"; exit 0; }
				sleep 1
			done
			exit 1' "$mine" "$@"
	}
	meet one two >"$tmp/one" 2>"$tmp/err1" &
	one=$!
	meet two one >"$tmp/two" 2>"$tmp/err2" &
	two=$!
	wait $one || { cat "$tmp/err1"; fail "the first"; }
	wait $two || { cat "$tmp/err2"; fail "the second"; }
	rm -r "$mine"
	[ "$(cat "$tmp/one" "$tmp/two")" = $'met two\nmet one' ]
}

# Two guests, one simhca: each sees one HCA, on the other's subnet.
two_guests_one_fabric()
{
	# shellcheck disable=SC2016 # for the guests
	expect 0 $vm --no-module --hca 2 --guests 2 -- bash -c '
		lid=$(cat /sys/class/infiniband/mlx5_0/ports/1/lid)
		[ ! -e /sys/class/infiniband/mlx5_1 ] || exit 3
		n=$(simhca-ctl dump | jq ".hcas | length")
		echo "guest $MLX5_EP_GUEST of $MLX5_EP_GUESTS: $lid, $n HCAs"'
	cat "$tmp/out" "$tmp/err"
	grep -qx 'guest 0 of 2: 0x1, 2 HCAs' "$tmp/out"
	grep -qx 'guest 1 of 2: 0x2, 2 HCAs' "$tmp/err"
}

# What the first guest has written and removed is so in the second.
disk_of_a_node()
{
	local disk=build/lab/disk.$$

	expect 0 $vm --hca 0 --disk "$disk" -- sh -c 'rm /usr/bin/strace &&
		install -o 7 -m 640 -D /dev/null /var/lib/node/written &&
		echo "a  b" >/var/lib/node/written'
	expect 3 $vm --hca 0 --disk "$disk" -- sh -c 'touch /root/lost; exit 3'
	expect 0 $vm --hca 0 --disk "$disk" -- sh -c 'cat /var/lib/node/written
		stat -c "%u %a" /var/lib/node/written
		ls /usr/bin/strace /root/lost /run/disk/disk/var/lib/node || :'
	rm "$disk"
	[ "$(cat "$tmp/out")" = $'a  b\n7 640\n/run/disk/disk/var/lib/node:\nwritten' ]
	expect 1 $vm --hca 0 --disk "$tmp/disk" -- true
}

# A module that was built before, told from the checkout's by its version.
built_before()
{
	local ko built=build/lab/built.$$.ko

	lab/build-module 7.2
	ko=$(echo build/modules/7.2.*/mlx5_ep.ko)
	LC_ALL=C sed -E 's/(\x00version=)[0-9]/\19/' "$ko" >"$built"
	# shellcheck disable=SC2016 # for the guest
	expect 0 $vm --module "$built" -- sh -c 'cat /sys/module/mlx5_ep/version
		cmp "$0" "build/modules/$(uname -r)/mlx5_ep.ko"' "$built"
	[[ $(cat "$tmp/out") = 9.* ]]
	# The same for a command that loads the module itself.
	# shellcheck disable=SC2016 # for the guest
	expect 0 $vm --module-later --module "$built" -- sh -c '
		insmod "build/modules/$(uname -r)/mlx5_ep.ko" && modprobe mlx5_ib &&
			cat /sys/module/mlx5_ep/version'
	[[ $(cat "$tmp/out") = 9.* ]]
	must_fail cmp "$built" "$ko"
	expect 1 $vm --kernel 6.12 --module "$built" -- true
	grep -q 'is for 7.2.*, not 6.12' "$tmp/err"
	rm "$built"
	expect 1 $vm --module /etc/passwd -- true
	grep -q 'wants a file below the checkout' "$tmp/err"
	expect 1 $vm --module lab/vm -- true
	grep -q 'is no module' "$tmp/err"
}

plan 11
check "output is exact, the exit status the command's" output_and_status
check "arguments arrive as they are" arguments
check "a module can be built and left to the command" module_later
check "a warning in the kernel log fails the run" warning_in_the_log
check "a crash of the guest fails the run" crash
check "a guest that does not start fails the run" no_start
check "wrong options are refused" unknown_option
check "a guest has what others have written to its disk" disk_of_a_node
check "a module that was built before is loaded" built_before
check "two guests run side by side" side_by_side
check "two guests share one fabric" two_guests_one_fabric
ktap_finished
