# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What the scripts that compare results have in common. The one that sources this file
# sets out to the folder with NAME.results, and runs in the checkout. bad is the number of
# differences that Documentation/peers.md does not list.

bad=0

# tell TEXT NAME: prints a difference, which is a failure if the page does not list it
tell()
{
	if simhca/peers/known "$2"; then
		echo "$1 (known)"
	else
		echo "$1"
		bad=$((bad + 1))
	fi
}

# count STATUS NAME: prints how many results of NAME have that status
# shellcheck disable=SC2154 # who sources this sets out
count()
{
	grep -c "^$1 " "$out/$2.results" || true
}
