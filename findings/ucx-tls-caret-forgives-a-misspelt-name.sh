#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# UCX 1.18.1 (Debian trixie): a transport that does not exist is warned of in UCX_TLS=tpc,self, and is not in
# UCX_TLS=^tpc, which leaves out nothing. In UCX_NET_DEVICES "^" is part of a name: "^lo" is no
# device, a warning says so, and ucp_init() succeeds with no network transport at all.
# Guessed before: a misspelt name is warned of in both forms, and "^" leaves a device out, as it does
# a transport. Seen on 2026-11-29.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie libucx0=1.18.1+ds-2+b1 libucx-dev=1.18.1+ds-2+b1 gcc libc6-dev
# shellcheck disable=SC2016 # expanded in the chroot
alone=yes in_root trixie '
	cd /tmp || exit
	cat >p.c <<-"END"
	#include <stdio.h>
	#include <ucp/api/ucp.h>
	int main(void)
	{
		ucp_params_t params = {
			.field_mask = UCP_PARAM_FIELD_FEATURES,
			.features = UCP_FEATURE_TAG,
		};
		ucp_context_h context;
		ucs_status_t status = ucp_init(&params, NULL, &context);

		printf("ucp_init %s\n", ucs_status_string(status));
		if (status == UCS_OK)
			ucp_context_print_info(context, stdout);
		return status != UCS_OK;
	}
	END
	gcc -o p p.c -lucp -lucs || exit
	for set in UCX_TLS=all UCX_TLS=^tcp UCX_TLS=^tpc UCX_TLS=tcp,tpc \
		UCX_NET_DEVICES=all UCX_NET_DEVICES=^lo; do
		env "$set" ./p >out 2>&1
		echo "$set: $(grep -o "ucp_init .*" out), warnings $(grep -c WARN out)," \
			"uses tcp $(grep -c "resource .*tcp/" out) times"
	done' >"$work/got"
cat >"$work/want" <<'END'
UCX_TLS=all: ucp_init Success, warnings 0, uses tcp 1 times
UCX_TLS=^tcp: ucp_init Success, warnings 0, uses tcp 0 times
UCX_TLS=^tpc: ucp_init Success, warnings 0, uses tcp 1 times
UCX_TLS=tcp,tpc: ucp_init Success, warnings 1, uses tcp 1 times
UCX_NET_DEVICES=all: ucp_init Success, warnings 0, uses tcp 1 times
UCX_NET_DEVICES=^lo: ucp_init Success, warnings 1, uses tcp 0 times
END
verdict "$work/want" "$work/got" 'UCX 1.18.1 says nothing of a misspelt transport behind "^", and knows no "^" for devices'
