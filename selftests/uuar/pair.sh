# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Needs lib.sh ($tmp, $patience, wait_for, fail).
# Programs that come as server and client on one machine.

# pair PORT CMD...: runs CMD as server, then CMD 127.0.0.1 as client. Both must
# succeed. PORT is where the server listens.
: "${tmp:?lib.sh comes first}" "${patience:?}"

pair()
{
	local port=$1 server status=0

	shift
	ip link set lo up
	"$@" >"$tmp/server.out" 2>&1 &
	server=$!
	if ! wait_for 10 listening_or_gone "$port" "$server" ||
		! listening "$port"; then
		kill "$server" 2>/dev/null || true
		cat "$tmp/server.out"
		fail 'the server does not listen'
	fi
	timeout $((60 * patience)) "$@" 127.0.0.1 || status=$?
	if [ $status -ne 0 ]; then
		kill "$server" 2>/dev/null || true
		cat "$tmp/server.out"
		fail "client: exit status $status"
	fi
	wait "$server" || {
		status=$?
		cat "$tmp/server.out"
		fail "server: exit status $status"
	}
}

# Waiting for a server that has ended would never succeed.
listening_or_gone()
{
	listening "$1" || ! kill -0 "$2" 2>/dev/null
}

listening()
{
	local hex

	hex=$(printf ':%04X 00000000.*:0000 0A ' "$1")
	grep -hqE "$hex" /proc/net/tcp || grep -hqE \
		"$(printf ':%04X [0]*:0000 0A ' "$1")" /proc/net/tcp6 2>/dev/null
}
