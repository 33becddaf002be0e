#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# libfabric 2.1.0 (Debian trixie): a size in the environment with a suffix is cut there, without a
# word at FI_LOG_LEVEL=warn: FI_TCP_TX_SIZE=16k gives a transmit queue of 16, FI_MR_CACHE_MAX_SIZE=1G is one
# byte, and a word is 0. A boolean that cannot be read is warned of. UCX takes such suffixes, and
# ends with an error where it cannot.
# Guessed before: a suffix is understood, or warned of as a boolean is. Seen on 2026-11-29.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie libfabric-bin=2.1.0-1.1 libfabric1=2.1.0-1.1
# shellcheck disable=SC2016 # expanded in the chroot
alone=yes in_root trixie '
	cd /tmp || exit
	for set in FI_TCP_TX_SIZE=512 FI_TCP_TX_SIZE=16k FI_TCP_TX_SIZE=all FI_TCP_TX_SIZE=0x200; do
		env FI_LOG_LEVEL=warn "$set" fi_info -p tcp -v >out 2>err
		echo "$set: status $?, messages $(grep -c . err), size" \
			"$(awk "/tx_attr/ { t = 1 } t && /^ *size:/ { print \$2; exit }" out)"
	done
	for set in FI_MR_CACHE_MAX_SIZE=1G FI_TCP_IO_URING=maybe; do
		env FI_LOG_LEVEL=info "$set" fi_info -p tcp >out 2>err
		echo "$set: status $?," \
			$(grep -oE "(read|failed to parse) .* var (mr_cache_max_size|io_uring)=.*" err | sort -u)
	done' >"$work/got"
cat >"$work/want" <<'END'
FI_TCP_TX_SIZE=512: status 0, messages 0, size 512
FI_TCP_TX_SIZE=16k: status 0, messages 0, size 16
FI_TCP_TX_SIZE=all: status 0, messages 0, size 0
FI_TCP_TX_SIZE=0x200: status 0, messages 0, size 512
FI_MR_CACHE_MAX_SIZE=1G: status 0, read long var mr_cache_max_size=1
FI_TCP_IO_URING=maybe: status 0, failed to parse bool var io_uring=maybe
END
verdict "$work/want" "$work/got" 'libfabric 2.1.0 cuts a size at its suffix, and says nothing'
