#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full
#
# selftests/model/run: what it adds up and what it takes for an error. A program in the
# place of spin writes a program that says at once what an exploration would.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

mkdir -p "$tmp/tree/selftests/model" "$tmp/bin"
cp selftests/model/run "$tmp/tree/selftests/model/"
model=$tmp/tree/selftests/model/made_up.pml

# The exploration says what the variable SAYS has, and finds an error in what is WEAK.
cat >"$tmp/bin/spin" <<'END_OF_SPIN'
#!/usr/bin/env bash
errors=0
[[ " $* " != *" -DWEAK"* ]] || errors=1
cat >pan.c <<END_OF_PAN
#include <stdio.h>
int main(void)
{
	puts("State-vector 28 byte, depth reached 9, errors: $errors");
	puts("$SAYS states, stored");
	return 0;
}
END_OF_PAN
END_OF_SPIN
chmod +x "$tmp/bin/spin"
PATH=$tmp/bin:$PATH

# a_model LINE...: its first comment has these lines
a_model()
{
	{
		echo '/*'
		printf ' * %s\n' "$@"
		echo ' */'
	} >"$model"
}

# explored STATUS STATES: explores it, where spin counts so many states
explored()
{
	SAYS=$2 code "$1" "$tmp/tree/selftests/model/run"
}

last()
{
	[ "$(tail -n 1 "$tmp/out")" = "$1" ]
}

adds_up()
{
	a_model 'config: -DN=1' 'config: -DN=2' 'variant: WEAK_A - one' 'variant: WEAK_B - two'
	explored 0 '       12'
	last 'model: 24 states, 0 violations; 2 weakened variants, 2 caught'
}

large()
{
	a_model 'config: -DN=1' 'config: -DN=2' 'variant: WEAK_A - one'
	explored 0 '1.2345678e+08'
	last 'model: 246913560 states, 0 violations; 1 weakened variants, 1 caught'
	grep -qx 'made_up.pml -DN=1: 123456780 states, 0 violations' "$tmp/out"
}

not_caught()
{
	a_model 'config: -DN=1' 'variant: STRONG - nothing'
	explored 1 12
	grep -qx 'made_up.pml STRONG is not caught: nothing' "$tmp/out"
	last 'model: 12 states, 0 violations; 1 weakened variants, 0 caught'
}

violated()
{
	a_model 'config: -DWEAK=1'
	explored 1 12
	last 'model: 12 states, 1 violations; 0 weakened variants, 0 caught'
}

plan 4
check 'the states of the configurations are added up, and variants counted' adds_up
check 'counts that spin rounds are added up, too' large
check 'a variant that is not caught is an error' not_caught
check 'a configuration that does not hold is an error' violated
ktap_finished
