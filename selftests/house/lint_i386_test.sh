#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 30
#
# selftests/lint/i386 on a small tree: a call of the interface that no program of 32 bits
# makes is named, and so is a program that is built and not run.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

i386=$PWD/selftests/lint/i386
mkdir -p "$tmp"/tree/{uapi/rdma,userlib,selftests/{attach,lib,area}}
cd "$tmp/tree"
cat >uapi/rdma/cmds.h <<'C'
enum ep_device_methods {
	MLX5_EP_METHOD_ONE = (1U << UVERBS_ID_NS_SHIFT),
	/* by a library call */
	MLX5_EP_METHOD_TWO,
};

enum ep_one_attrs {
	MLX5_EP_ATTR_ONE_RESP = (1U << UVERBS_ID_NS_SHIFT),
};

#define MLX5_EP_IOC_THREE \
	_IOW(MLX5_EP_IOC_MAGIC, 0xe0, struct batch)
C
cat >userlib/two.c <<'C'
static int two_exec(void)
{
	return exec(MLX5_EP_METHOD_TWO);
}

int two_do(void)
{
	return two_exec();
}
C
echo 'programs=(one two)' >selftests/attach/kernel_i386_test.sh
# shellcheck disable=SC2016 # for make
echo 'ST_VERBS := $(addprefix $(ST_OUT)/,one_test two_test)' >selftests/selftests.mk
cat >selftests/area/one_test.c <<'C'
int main(void)
{
	return begin(MLX5_EP_METHOD_ONE) + helper();
}
C
cat >selftests/lib/helper.c <<'C'
int helper(void)
{
	return ioctl(0, MLX5_EP_IOC_THREE);
}
C
echo 'int main(void) { return two_do(); }' >selftests/area/two_test.c
echo 'int main(void) { return four(MLX5_EP_METHOD_FOUR); }' >selftests/area/four_test.c

# says LINE...: the check says this and fails
says()
{
	code 1 "$i386"
	printf '%s\n' "$@" | diff - "$tmp/out"
}

complete()
{
	code 0 "$i386"
	[ ! -s "$tmp/out" ]
}

# NAME in a comment, in a string, or in a test that is not built for 32 bits is no call.
forgotten()
{
	local none='selftests/attach/kernel_i386_test.sh: none of its programs calls'

	sed -i 's/^\tMLX5_EP_METHOD_TWO,/&\n\tMLX5_EP_METHOD_FOUR,/' uapi/rdma/cmds.h
	says "$none MLX5_EP_METHOD_FOUR"
	echo '/* MLX5_EP_METHOD_FOUR */ char *s = "MLX5_EP_METHOD_FOUR";' \
		>>selftests/area/one_test.c
	says "$none MLX5_EP_METHOD_FOUR"
	sed -i /FOUR/d uapi/rdma/cmds.h
	sed -i s/two_do/other/ selftests/area/two_test.c
	sed -i s/helper/other/ selftests/area/one_test.c
	says "$none MLX5_EP_IOC_THREE" "$none MLX5_EP_METHOD_TWO"
	sed -i s/other/two_do/ selftests/area/two_test.c
	sed -i s/other/helper/ selftests/area/one_test.c
}

differ()
{
	echo 'programs=(one)' >selftests/attach/kernel_i386_test.sh
	says "selftests/selftests.mk: ST_VERBS and selftests/attach/kernel_i386_test.sh$(
		) differ by two" \
		"selftests/attach/kernel_i386_test.sh: none of its programs calls$(
		) MLX5_EP_METHOD_TWO"
}

plan 3
check 'a call is found in a program, in a shared file and in the library' complete
check 'a call that no program makes is named' forgotten
check 'a program that is built and not run is named' differ
ktap_finished
