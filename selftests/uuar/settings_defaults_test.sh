#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: core, guest: settings, timeout: 120
#
# The module parameter "defaults" takes for each attribute what a write to the
# attribute takes, and nothing else.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh

parameter=/sys/module/mlx5_ep/parameters/defaults

# give TEXT: writes the parameter
give()
{
	echo "$1" >$parameter
}

# begin_with TEXT: a device that the module has not seen before gets TEXT
begin_with()
{
	ib_unload
	rmmod mlx5_ep
	ep_insmod
	give "$1"
	modprobe mlx5_ib
	wait_for 60 attached || fail 'not attached'
}

# written ATTRIBUTE VALUE: what a write makes of it, "refused" where it fails
written()
{
	if echo "$2" >"$ep/$1"; then
		cat "$ep/$1"
	else
		echo refused
	fi 2>/dev/null
}

# The two are compared, so it does not matter here what is right.
same_values()
{
	local attribute value good='' bad=0 now

	while read -r attribute value; do
		now=$(written "$attribute" "$value")
		if [ "$now" = refused ]; then
			! echo "* $attribute $value" >$parameter ||
				fail "defaults took $attribute $value"
			bad=$((bad + 1))
		else
			echo "* $attribute $value" >$parameter
			good+="* $attribute $value;"
			echo "$attribute:$now" >>"$tmp/good"
		fi
	done <<-END 2>/dev/null
		uuar_policy shared-uar
		uuar_policy fast
		uuar_strict yes
		uuar_strict maybe
		uuar_pages 0x10
		uuar_pages 257
		uuar_pages -1
		uar_budget 100
		uar_budget many
		uar_user_limit 50
		uar_user_limit 4294967296
		uuar_exempt   a    bc
		uuar_exempt sixteen_letters_
	END
	[ $bad = 7 ]
	begin_with "$good"
	(cd "$ep" && grep . uuar_policy uuar_strict uuar_pages uar_budget \
		uar_user_limit uuar_exempt) >"$tmp/now"
	diff "$tmp/good" "$tmp/now"
}

# How many UAR pages an adapter has is not known before it is there.
more_than_the_adapter_has()
{
	local lines attribute

	must_fail ep_set uar_budget 1000000
	must_fail ep_set uar_user_limit 1000000
	lines=$(dmesg | grep -c 'parameter defaults' || :)
	begin_with "* uuar_pages 4; * uar_budget 1000000; \
		* uar_user_limit 1000000; * uuar_strict 1"
	[ "$(cat "$ep/uar_budget" "$ep/uar_user_limit")" = $'0\n0' ]
	[ "$(cat "$ep/uuar_pages" "$ep/uuar_strict")" = $'4\n1' ]
	for attribute in uar_budget uar_user_limit; do
		dmesg | grep "$dev: .*parameter defaults.*$attribute 1000000"
	done
	[ "$(dmesg | grep -c 'parameter defaults')" = $((lines + 2)) ]
}

nothing()
{
	begin_with ''
	[ "$(cat "$ep/uuar_policy" "$ep/uuar_pages")" = $'stock\n0' ]
}

# A line is about a device by its name or its parent's, or about all of them. Of those
# that fit the last one holds.
names()
{
	local parent

	parent=$(basename "$(realpath "/sys/class/infiniband/$dev/device")")
	begin_with "* uuar_pages 2; $parent uuar_pages 4; ${parent}0 uuar_pages 6"
	[ "$(cat "$ep/uuar_pages")" = 4 ]
	begin_with "$dev uuar_pages 8; ${dev}0 uuar_pages 6"
	[ "$(cat "$ep/uuar_pages")" = 8 ]
	begin_with "$dev uuar_pages 8; $parent uuar_pages 4; * uuar_pages 2"
	[ "$(cat "$ep/uuar_pages")" = 2 ]
}

# The parameter tells the text that was taken last.
told()
{
	give '* uuar_pages 4; * uuar_strict 1 '
	[ "$(cat $parameter)" = '* uuar_pages 4; * uuar_strict 1' ]
	must_fail give '* uuar_pages 257'
	[ "$(cat $parameter)" = '* uuar_pages 4; * uuar_strict 1' ]
	give ''
	[ "$(cat $parameter)" = '' ]
}

plan 5
check 'defaults takes what the attributes take' same_values
check 'more pages than the adapter has are logged and left out' \
	more_than_the_adapter_has
check 'an empty text leaves a stock device' nothing
check 'a line names a device, its parent or all' names
check 'the parameter tells what it was given' told
ktap_finished
