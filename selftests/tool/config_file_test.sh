#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: core
#
# /etc/mlx5ep.conf on made-up trees: what is an error, what apply writes, what
# set --save changes. The tool is the one that ASan and UBSan watch.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/tool/fake.sh
. selftests/tool/fake.sh

tool=${TOOL:-$PWD/build/san/bin/mlx5ep}
export ASAN_OPTIONS=detect_leaks=1
pci=0000:01:00.0
ep=$root/sys/class/infiniband/mlx5_0/mlx5_ep
ep1=$root/sys/class/infiniband/mlx5_1/mlx5_ep
parameters=$root/sys/module/mlx5_ep/parameters
conf=$root/etc/mlx5ep.conf

# two_devices: mlx5_0 and mlx5_1 with the module, and a /etc without a file
two_devices()
{
	fresh
	fake mlx5_0 $pci attached
	fake mlx5_1 0000:02:00.0 attached
	: >"$ep/uuar_cgroups"
	: >"$ep1/uuar_cgroups"
	: >"$ep/uar_cgroup_limits"
	: >"$ep1/uar_cgroup_limits"
	echo 128 >"$parameters/notifiers_per_user"
	echo >"$parameters/defaults"
	mkdir -p "$root/etc" "$root/run" "$root/sys/fs/cgroup/job7"
}

# state: prints all that can be set
state()
{
	(cd "$root/sys" && grep -r . class module)
}

a_file()
{
	cat >"$conf" <<-END
	# The adapters of this node.
	  [device $pci]   ; the first one
	policy=independent
	pages = 016
	[device *]
	policy = shared-uar # for all others
	strict = on
	exempt = ucx_perftest   other
	[module]
	notifiers_per_user = 256
	[cgroup /sys/fs/cgroup/job7/]
	policy = shared-uuar
	pages = 8
	limit = 64
	[cgroup /job7 device mlx5_1]
	policy = stock
	[cgroup /later]
	policy = stock
	END
}

# wrong LINE ERROR TEXT: a file with this text has an error in this line
wrong()
{
	two_devices
	printf '%b' "$3" >"$conf"
	state >"$tmp/before"
	code 1 "$tool" check
	grep -q "mlx5ep: $conf:$1: .*$2" "$tmp/err" || fail "not line $1: $2"
	! grep -q 'Sanitizer\|runtime error' "$tmp/err" || fail 'sanitizer'
	code 1 "$tool" apply
	code 1 "$tool" set --pages 3 --save
	state | diff "$tmp/before" - || fail 'applied in part'
	[ "$(cat "$conf"; echo .)" = "$(printf '%b' "$3"; echo .)" ]
}

# names_for DEVICE...: a section for each, with a line of 104 characters for the module
names_for()
{
	local device

	for device in "$@"; do
		printf '[device %s]\\nexempt = %s\\n' "$device" \
			"$(printf 'fifteen_letters %.0s' {1..5})12345678"
	done
}

errors()
{
	local dev='[device *]\n' long

	printf -v long '%0300d' 0
	wrong 1 'before the first' 'policy = stock\n'
	wrong 2 "'polcy' is no setting" "${dev}polcy = stock\n"
	wrong 2 'not one of stock' "${dev}policy = fastest"
	wrong 2 'not one of stock' "${dev}policy =\n"
	wrong 3 'not one of stock' "${dev}\npolicy =# stock\n"
	wrong 2 'neither on nor off' "${dev}strict = maybe\n"
	wrong 2 'more than 256' "${dev}pages = 257\n"
	wrong 2 'not a number' "${dev}pages = -1\n"
	wrong 2 'not a number' "${dev}budget = 0x10\n"
	wrong 2 'not a number' "${dev}budget = 12345678901\n"
	wrong 2 'longer than 15' "${dev}exempt = one sixteen_letters_\n"
	# The module takes a semicolon for the end of a line of its parameter.
	wrong 2 'has a semicolon' "${dev}exempt = a;b\n"
	wrong 78 'more than 4000 characters for the module, from this line on' \
		"$(names_for {10..50})"
	# What is for all devices stands first there.
	wrong 76 'more than 4000 characters' "$(names_for {10..47} '*')"
	wrong 3 'set in line 2 already' "${dev}pages = 1\npages = 2\n"
	wrong 4 'set in line 2 already' "${dev}pages = 1\n${dev}pages = 1\n"
	wrong 2 'neither .SECTION. nor' "${dev}policy stock\n"
	wrong 2 'is no setting' "${dev}notifiers_per_user = 3\n"
	wrong 2 'is no setting' "[module]\npolicy = stock\n"
	wrong 2 'is no setting' "[cgroup /a]\nbudget = 3\n"
	wrong 2 'is no setting' "${dev}limit = 3\n"
	wrong 2 'not a number' "[cgroup /a]\nlimit = none\n"
	wrong 2 '0 is no limit' "[cgroup /a]\nlimit = 00\n"
	wrong 3 'has no policy' "[cgroup /a]\nlimit = 3\nstrict = on\n"
	wrong 2 'has no policy' "[cgroup /a]\npages = 3\n"
	wrong 1 'a path that begins' '[cgroup a]\n'
	wrong 1 'a path that begins' "[cgroup /$long]\n"
	wrong 1 'only .device DEVICE' '[cgroup /a mlx5_0]\n'
	wrong 1 'a device is missing' '[cgroup /a device]\n'
	wrong 1 'a device is missing' '[device]\n'
	wrong 1 'not the name of a device' '[device mlx5_*]\n'
	wrong 1 'not the name of a device' "[device $long]\n"
	wrong 1 'a word too many' '[device mlx5_0 mlx5_1]\n'
	wrong 1 'a word too many' '[module x]\n'
	wrong 1 'not one of .module.' '[modul]\n'
	wrong 1 'not one of .module.' '[]\n'
	wrong 1 'does not end' '[device *\n'
	wrong 1 'does not end' '['
	wrong 2 'zero byte' "${dev}policy = st\\0000ock\n"
	wrong 1 "'?.31m' is no setting\|before" '\\033[31m = 1\n'
}

# Each error is named, not only the first one.
all_errors()
{
	two_devices
	printf '[device *]\npages = x\nstrict = y\n[nowhere]\npages = 1\n' \
		>"$conf"
	code 1 "$tool" check
	[ "$(grep -o 'conf:[0-9]*' "$tmp/err" | tr '\n' ' ')" = \
		'conf:2 conf:3 conf:4 ' ]
}

check_says()
{
	two_devices
	a_file
	code 0 "$tool" check
	grep -q ': 11 settings, all correct$' "$tmp/out"
	cp "$conf" "$tmp/other"
	code 0 "$tool" check "$tmp/other"
	code 0 "$tool" -j check
	jq -e '.correct and .settings == 11' "$tmp/out"
	code 1 "$tool" check "$tmp/no-such-file"
	code 1 "$tool" check "$tmp"
	code 2 "$tool" check a b
	printf '\n# nothing\n' >"$conf"
	code 0 "$tool" check
}

applies()
{
	two_devices
	a_file
	code 0 "$tool" apply
	[ "$(cat "$ep/uuar_policy" "$ep/uuar_pages" "$ep/uuar_strict")" = \
		$'independent\n16\n1' ]
	[ "$(cat "$ep1/uuar_policy" "$ep1/uuar_pages" "$ep1/uuar_strict")" = \
		$'shared-uar\n0\n1' ]
	[ "$(cat "$ep/uuar_exempt")" = 'ucx_perftest other' ]
	[ "$(cat "$ep/uuar_cgroups")" = '/job7 shared-uuar 0 8' ]
	[ "$(cat "$ep1/uuar_cgroups")" = '/job7 stock 0 8' ]
	[ "$(cat "$ep/uar_cgroup_limits")" = '/job7 64' ]
	[ "$(cat "$ep1/uar_cgroup_limits")" = '/job7 64' ]
	[ "$(cat "$parameters/notifiers_per_user")" = 256 ]
	grep -q "mlx5_0: policy: 'independent', was 'stock'" "$tmp/out"
	grep -q 'mlx5_0: cgroup /later does not exist' "$tmp/err"
	# The lines for all devices stand before those for one device.
	diff "$parameters/defaults" - <<-END
	* uuar_policy shared-uar
	* uuar_strict 1
	* uuar_exempt ucx_perftest other
	$pci uuar_policy independent
	$pci uuar_pages 16
	END
	code 0 "$tool" apply
	[ -z "$(cat "$tmp/out")" ] || fail 'written again'
	# The module is loaded early in the boot, and devices come later.
	rm -r "$root/sys/class/infiniband/mlx5_0" "$root/sys/class/infiniband/mlx5_1"
	echo 128 >"$parameters/notifiers_per_user"
	code 0 "$tool" apply
	[ "$(cat "$parameters/notifiers_per_user")" = 256 ]
}

applies_to_one()
{
	two_devices
	a_file
	code 0 "$tool" apply 0000:02:00.0
	[ "$(cat "$ep/uuar_policy")" = stock ]
	[ "$(cat "$ep1/uuar_policy")" = shared-uar ]
	code 0 "$tool" -j apply mlx5_0
	jq -e '.[1] | .device == "mlx5_0" and .applied and
		.written[0].setting == "policy"' "$tmp/out"
	code 4 "$tool" apply mlx5_9
	code 2 "$tool" apply mlx5_0 mlx5_1
	code 2 "$tool" apply --early mlx5_0
	echo 'not attached: no memory' >"$ep/attached"
	code 3 "$tool" apply mlx5_0
	code 0 "$tool" apply
	two_devices
	a_file
	code 0 "$tool" apply --early
	[ "$(cat "$ep/uuar_policy")" = stock ]
	[ "$(cat "$parameters/notifiers_per_user")" = 256 ]
	[ "$(wc -l <"$parameters/defaults")" = 5 ]
	rm "$conf"
	code 0 "$tool" apply
	rm -rf "$root/sys/module"
	a_file
	code 3 "$tool" apply
}

# no_file OPTION...: apply, told so, sets nothing where there is no file, and notes nothing
no_file()
{
	two_devices
	echo '* uuar_pages 3' >"$parameters/defaults"
	state >"$tmp/before"
	code 0 "$tool" "$@" apply
	state | diff "$tmp/before" - || fail 'set without a file'
	a_file
	[ "$(pages_after apply --once $pci)" = '16 256' ] || fail 'noted as given'
	two_devices
	rm -r "$root/sys/module"
	code 0 "$tool" "$@" apply
}

# JSON changes what is printed and nothing else.
applies_no_file()
{
	no_file
	grep -qx "$conf does not exist: nothing to apply" "$tmp/out"
	no_file -j
	jq -e '. == []' "$tmp/out"
}

# What mlx5_1 refuses does not change what mlx5_0 got.
undoes()
{
	two_devices
	a_file
	rm "$ep1/uuar_exempt"
	code 1 "$tool" apply
	grep -q 'mlx5_1: this module has no uuar_exempt' "$tmp/err"
	grep -q "mlx5_1: uuar_policy is put back to 'stock'" "$tmp/err"
	[ "$(cat "$ep1/uuar_policy" "$ep1/uuar_strict")" = $'stock\n0' ]
	[ "$(cat "$ep/uuar_policy")" = independent ]
}

# What is refused of a device, or of a cgroup's policy, takes no limit away.
limits_stand()
{
	two_devices
	a_file
	rm "$ep1/uuar_exempt"
	code 1 "$tool" apply
	[ "$(cat "$ep1/uar_cgroup_limits")" = '/job7 64' ]
	[ "$(cat "$ep1/uuar_policy")" = stock ]
	two_devices
	printf '[cgroup /job7]\npolicy = stock\nlimit = 5\n' >"$conf"
	rm "$ep/uuar_cgroups"
	code 1 "$tool" apply mlx5_0
	[ "$(cat "$ep/uar_cgroup_limits")" = '/job7 5' ]
}

# loaded_again: the folder of the module in sysfs is another one
loaded_again()
{
	cp -r "$root/sys/module/mlx5_ep" "$tmp/again"
	rm -r "$root/sys/module/mlx5_ep"
	mv "$tmp/again" "$root/sys/module/mlx5_ep"
}

# pages_after COMMAND...: prints the pages of mlx5_0 after they were set to 9 by hand
pages_after()
{
	echo 9 >"$ep/uuar_pages"
	echo 5 >"$parameters/notifiers_per_user"
	code 0 "$tool" "$@" >/dev/null
	cat "$ep/uuar_pages" "$parameters/notifiers_per_user" | paste -sd' '
}

once()
{
	two_devices
	a_file
	[ "$(pages_after apply --once $pci)" = '16 256' ]
	[ "$(pages_after apply --once $pci)" = '9 5' ]
	[ "$(cat "$ep1/uuar_policy")" = stock ]
	code 0 "$tool" apply --once 0000:02:00.0
	[ "$(cat "$ep1/uuar_policy")" = shared-uar ]
	[ "$(pages_after apply mlx5_0)" = '16 256' ]
	loaded_again
	[ "$(pages_after apply --once)" = '16 256' ]
	# udev has given the device another name.
	mv "$root/sys/class/infiniband/mlx5_0" "$root/sys/class/infiniband/ibp1"
	ep=$root/sys/class/infiniband/ibp1/mlx5_ep
	[ "$(pages_after apply --once $pci)" = '16 5' ]
	[ "$(pages_after apply --once $pci)" = '9 5' ]
	ep=$root/sys/class/infiniband/mlx5_0/mlx5_ep
	# What was refused is tried again.
	two_devices
	a_file
	rm "$ep/uuar_exempt"
	code 1 "$tool" apply --once $pci
	echo >"$ep/uuar_exempt"
	[ "$(pages_after apply --once $pci)" = '16 5' ]
}

# defaults_after OPTION...: prints the parameter when apply was called so
defaults_after()
{
	code 0 "$tool" apply "$@" >/dev/null
	cat "$parameters/defaults"
}

# Without a section of a device, apply takes back its own text and no other one.
defaults_by_hand()
{
	local by_hand='* uuar_policy independent'

	two_devices
	echo "$by_hand" >"$parameters/defaults"
	cp packaging/mlx5ep.conf "$conf"
	[ "$(defaults_after --early)" = "$by_hand" ]
	[ "$(defaults_after --once $pci)" = "$by_hand" ]
	printf '[module]\nnotifiers_per_user = 9\n' >"$conf"
	[ "$(defaults_after)" = "$by_hand" ]
	printf '[device *]\npages = 6\n' >>"$conf"
	[ "$(defaults_after)" = '* uuar_pages 6' ]
	: >"$conf"
	[ -z "$(defaults_after)" ] || fail 'a section that has gone is still there'
	echo "$by_hand" >"$parameters/defaults"
	[ "$(defaults_after)" = "$by_hand" ]
	# By hand after apply, and then the section goes.
	printf '[device *]\npages = 6\n' >"$conf"
	[ "$(defaults_after)" = '* uuar_pages 6' ]
	echo "$by_hand" >"$parameters/defaults"
	: >"$conf"
	[ "$(defaults_after)" = "$by_hand" ]
	# The module was loaded again, and selftest --reload has returned the text.
	printf '[device *]\npages = 6\n' >"$conf"
	[ "$(defaults_after)" = '* uuar_pages 6' ]
	loaded_again
	echo '* uuar_pages 6' >"$parameters/defaults"
	: >"$conf"
	[ -z "$(defaults_after)" ] || fail 'a section that has gone is still there'
	# The module was loaded again with the parameter.
	printf '[device *]\npages = 6\n' >"$conf"
	[ "$(defaults_after)" = '* uuar_pages 6' ]
	loaded_again
	echo "$by_hand" >"$parameters/defaults"
	: >"$conf"
	[ "$(defaults_after --early)" = "$by_hand" ]
}

# The list of cgroups may be longer than a page; it is still put back whole.
undoes_long_lists()
{
	local i

	two_devices
	for i in {1..100}; do
		printf '/%080d stock 0 %d\n' "$i" "$i"
	done >"$ep/uuar_cgroups"
	printf '/last shared-uar 1 7\n' >>"$ep/uuar_cgroups"
	rm "$ep1/uuar_cgroups"
	code 1 "$tool" set --cgroup /last --policy stock
	[ "$(cat "$ep/uuar_cgroups")" = '/last shared-uar 1 7' ]
}

shows_long_lists()
{
	local i

	two_devices
	for i in {1..1000}; do
		printf '/%080d stock 0 %d\n' "$i" "$i" >&3
		printf '/%080d %d\n' "$i" "$i"
	done 3>"$ep/uuar_cgroups" >"$ep/uar_cgroup_limits"
	code 0 "$tool" -j show >/dev/null
	jq -e '.devices[0].cgroups | length == 1000 and .[999].pages == 1000' \
		"$tmp/out"
	code 0 "$tool" metrics >/dev/null
	[ "$(grep -c '^mlx5ep_cgroup_uar_pages_limit{' "$tmp/out")" = 1000 ]
}

shows_differences()
{
	two_devices
	a_file
	code 0 "$tool" -j show
	jq -e '.differs == [{"setting": "notifiers_per_user",
		"attribute": "notifiers_per_user", "now": "128",
		"saved": "256", "line": 10}]' "$tmp/out"
	jq -e '.devices[0].differs | length == 7 and .[0] == {
		"setting": "policy", "attribute": "uuar_policy", "now": "stock",
		"saved": "independent", "line": 3}' "$tmp/out"
	code 0 "$tool" show
	grep -q '^mlx5_0: differs from /etc/mlx5ep.conf$' "$tmp/out"
	grep -Eq '^policy +stock +independent +3$' "$tmp/out"
	grep -Eq '^notifiers_per_user +128 +256 +10$' "$tmp/out"
	mkdir "$root/sys/fs/cgroup/later"
	code 0 "$tool" apply
	printf '%s\n' '/job7 shared-uuar 0 8' '/later stock 0 0' \
		>"$ep/uuar_cgroups"
	printf '%s\n' '/job7 stock 0 8' '/later stock 0 0' >"$ep1/uuar_cgroups"
	code 0 "$tool" show
	! grep -q differs "$tmp/out" || fail 'still a difference'
	code 0 "$tool" show differs
	grep -qx none "$tmp/out"
	echo nonsense >"$conf"
	code 0 "$tool" show differs
	grep -q 'see mlx5ep check' "$tmp/out"
	code 0 "$tool" -j show
	jq -e '.differs == null and .devices[0].differs == null' "$tmp/out"
}

# saved DIFF-LINES...: the file differs from the one before in these lines
saved()
{
	diff "$tmp/conf" "$conf" | grep '^[<>]' >"$tmp/diff" || :
	printf '%s\n' "$@" | diff - "$tmp/diff"
	[ "$(stat -c %a "$conf")" = 644 ]
	[ "$(ls "$root/etc")" = mlx5ep.conf ]
	code 0 "$tool" check
	cp "$conf" "$tmp/conf"
}

saves()
{
	two_devices
	a_file
	chmod 600 "$conf"
	cp "$conf" "$tmp/conf"
	code 0 "$tool" -d mlx5_0 set --policy stock --budget 7 --save
	saved '< policy=independent' '> policy=stock' '> budget = 7'
	code 0 "$tool" set --policy stock --save
	saved '< policy = shared-uar # for all others' \
		'> policy = stock # for all others'
	code 0 "$tool" -d mlx5_1 set --strict off --save
	saved '> ' '> [device 0000:02:00.0]' '> strict = off'
	code 0 "$tool" set --exempt '' --save
	saved '< exempt = ucx_perftest   other' '> exempt = '
	code 0 "$tool" set --exempt 'a  b' --save
	saved '< exempt = ' '> exempt = a b'
	code 0 "$tool" set --exempt '' --save
	saved '< exempt = a b' '> exempt = '
	sed -i 's/^exempt = $/exempt =   # none yet/' "$conf"
	cp "$conf" "$tmp/conf"
	code 0 "$tool" set --exempt '' --save
	cmp "$conf" "$tmp/conf"
	code 0 "$tool" set --exempt foo --save
	saved '< exempt =   # none yet' '> exempt =   foo # none yet'
	sed -i 's/^exempt = .*/exempt =;none/' "$conf"
	cp "$conf" "$tmp/conf"
	code 0 "$tool" set --exempt 'a b' --save
	saved '< exempt =;none' '> exempt =a b ;none'
	code 0 "$tool" set --cgroup /job7/ --policy stock --strict 1 --save
	saved '< policy = shared-uuar' '< pages = 8' '> policy = stock' \
		'> strict = on'
	code 0 "$tool" set --cgroup /job8 --policy stock --save
	saved '> ' '> [cgroup /job8]' '> policy = stock'
	code 0 "$tool" set --cgroup /job8 --limit 9 --save
	saved '> limit = 9'
	[ "$(cat "$ep/uar_cgroup_limits")" = '/job8 9' ]
	code 0 "$tool" set --cgroup /job8 --clear --save
	saved '< policy = stock'
	[ "$(cat "$ep/uuar_cgroups")" = '/job8 none 0 0' ]
	[ "$(cat "$ep/uar_cgroup_limits")" = '/job8 9' ]
	code 0 "$tool" set --cgroup /job8 --limit none --save
	saved '< limit = 9'
	[ "$(cat "$ep/uar_cgroup_limits")" = '/job8 none' ]
}

# not_saved TEXT OPTION...: set --save is refused with this text and changes nothing
not_saved()
{
	local text=$1

	shift
	cp "$conf" "$tmp/conf"
	state >"$tmp/before"
	code 1 "$tool" "$@" --save
	grep -q "$text" "$tmp/err" || fail "$(cat "$tmp/err")"
	cmp "$tmp/conf" "$conf"
	state | diff "$tmp/before" -
	[ "$(ls "$root/etc")" = mlx5ep.conf ]
}

# Another line of the file, or a part of the value itself, would undo what is saved.
saves_truly()
{
	two_devices
	a_file
	not_saved 'not saved: a section for mlx5_0 alone would still say policy = indep' \
		set --policy stock
	# The line for mlx5_1 stays when the policy for all is taken away.
	code 0 "$tool" apply
	echo '/job7 stock 0 8' >"$ep1/uuar_cgroups"
	code 1 "$tool" set --cgroup /job7 --clear --save
	grep -q 'a section for mlx5_1 alone would still say policy = stock' "$tmp/err"
	code 2 "$tool" set --exempt 'a #b' --save
	grep -q 'begins a comment' "$tmp/err"
	code 2 "$tool" set --exempt ';b' --save
	# A cgroup that is gone can be taken out of the file.
	two_devices
	printf '[cgroup /gone]\nlimit = 3\n' >"$conf"
	code 1 "$tool" set --cgroup /gone --limit none
	code 0 "$tool" set --cgroup /gone --limit none --save
	! grep -q limit "$conf" || fail 'the limit is still there'
	# The new file is written beside the old one, whose name errors have.
	two_devices
	printf '%b' "$(names_for {10..47})" >"$conf"
	not_saved "^mlx5ep: $conf:[0-9]*: .*more than 4000" -d mlx5_0 set \
		--exempt "$(printf 'fifteen_letters %.0s' {1..6})"
	grep -qx "mlx5ep: $conf is as it was" "$tmp/err"
}

saves_anew()
{
	two_devices
	: >"$tmp/conf"
	(umask 077 && code 0 "$tool" set --pages 5 --save)
	saved '> [device *]' '> pages = 5'
	printf '[device *]\npages = 6 # six' >"$conf"
	cp "$conf" "$tmp/conf"
	code 0 "$tool" set --pages 7 --save
	[ "$(cat "$conf")" = $'[device *]\npages = 7 # six' ]
	mkdir "$root/etc/real"
	mv "$conf" "$root/etc/real/"
	ln -s real/mlx5ep.conf "$conf"
	code 0 "$tool" set --pages 8 --save
	[ -L "$conf" ]
	grep -q '^pages = 8 # six' "$root/etc/real/mlx5ep.conf"
}

# Where the file cannot be changed, nothing is set.
cannot_save()
{
	two_devices
	rm -r "${root:?}/etc"
	code 1 "$tool" set --pages 5 --save
	grep -q "mlx5ep.conf: no such file or folder: make its folder" "$tmp/err"
	[ "$(cat "$ep/uuar_pages")" = 0 ]
}

# Ten savers at once: each line arrives.
side_by_side()
{
	local i

	two_devices
	for i in {1..10}; do
		"$tool" set --cgroup "/c$i" --policy stock --save &
	done
	wait
	[ "$(grep -c '^.cgroup /c' "$conf")" = 10 ]
}

# udev runs apply for each device, and somebody may run set meanwhile: a value that one
# puts back must not be one that the other has written since it was read.
waits_for_another()
{
	local pids

	two_devices
	printf '[device *]\npages = 6\n' >"$conf"
	mkdir "$root/run/mlx5ep"
	exec 9>"$root/run/mlx5ep/lock"
	flock 9
	"$tool" set --budget 5 9>&- &
	pids=$!
	"$tool" apply 9>&- &
	pids="$pids $!"
	sleep 1
	[ "$(cat "$ep/uar_budget" "$ep/uuar_pages")" = $'0\n0' ]
	exec 9>&-
	# shellcheck disable=SC2086 # two processes
	wait $pids
	[ "$(cat "$ep/uar_budget" "$ep/uuar_pages")" = $'5\n6' ]
	# An ordinary user must not be able to hold it.
	rm "$root/run/mlx5ep/lock"
	code 0 "$tool" apply
	[ "$(stat -c %a "$root/run/mlx5ep/lock")" = 600 ]
}

help()
{
	local command

	for command in show set apply check plan attach doctor; do
		code 0 "$tool" "$command" --help
		grep -q "^Usage: mlx5ep .* $command" "$tmp/out"
		grep -qw "$command" userlib/cli/mlx5ep.bash
		grep -q "^\.SS $command" userlib/man/mlx5ep.8
	done
}

# What was set by hand for the device stays.
cgroups_only()
{
	local ep=$root/sys/class/infiniband/mlx5_0/mlx5_ep

	fresh
	fake mlx5_0 0000:01:00.0 attached
	mkdir -p "$root/etc" "$root/run" "$root/sys/fs/cgroup/job7"
	: >"$ep/uuar_cgroups"
	printf '%s\n' '[device *]' 'pages = 3' '[cgroup /job7]' 'policy = stock' \
		>"$root/etc/mlx5ep.conf"
	code 2 "$tool" apply --cgroups --early
	code 0 "$tool" apply --cgroups
	[ "$(cat "$ep/uuar_pages")" = 0 ]
	[ "$(cat "$ep/uuar_cgroups")" = '/job7 stock 0 0' ]
	[ ! -e "$root/run/mlx5ep/$pci" ] || fail 'noted as given'
	code 0 "$tool" apply --once
	[ "$(cat "$ep/uuar_pages")" = 3 ]
	# Where nothing can be noted, nothing above could have failed.
	[ -s "$root/run/mlx5ep/$pci" ]
}

plan 21
check 'an error in the file names its line, and nothing is applied' errors
check 'each error is named' all_errors
check 'check finds a correct file correct' check_says
check 'apply writes what the file says, once' applies
check 'apply is for all devices, for one, or for those to come' applies_to_one
check 'without a file apply sets nothing, with JSON too' applies_no_file
check 'a device that refuses a value gets its old values back' undoes
check 'a limit stays where something else is refused' limits_stand
check 'apply --once leaves alone what was set since' once
check 'apply leaves alone the defaults that it did not write' defaults_by_hand
check 'what is put back was not cut' undoes_long_lists
check 'lists of a thousand cgroups are shown whole' shows_long_lists
check 'show lists what differs from the file' shows_differences
check 'set --save changes its lines only' saves
check 'set --save says what another line would undo' saves_truly
check 'set --save makes a file, and follows a link' saves_anew
check 'where the file cannot be changed nothing is set' cannot_save
check 'several set --save at once lose nothing' side_by_side
check 'set and apply wait for each other' waits_for_another
check 'each command has --help, completion and a place in the manual' help
check 'apply --cgroups changes nothing of a device' cgroups_only
ktap_finished
