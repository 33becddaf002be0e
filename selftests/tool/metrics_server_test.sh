#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: core
#
# The server of mlx5ep metrics, connection by connection: requests in pieces, too long or
# cut off, more clients than there are places, too few descriptors, and what it costs to
# wait.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

tool=${TOOL:-$PWD/build/san/bin/mlx5ep}
# shellcheck source=selftests/tool/fake.sh
. selftests/tool/fake.sh

export ASAN_OPTIONS=detect_leaks=1

# serve WHERE LIMIT: starts the server with so many descriptors
serve()
{
	fresh
	chmod 755 "$tmp"
	fake mlx5_0 0000:01:00.0 attached
	(ulimit -n "$2"; exec "$tool" metrics --listen "$1") &
	server=$!
	# shellcheck disable=SC2064 # this process
	trap "kill $server 2>/dev/null || :" EXIT
}

# ends SIGNAL: the server ends by the signal, and has lost no memory
ends()
{
	kill -"$1" "$server"
	code 0 wait "$server"
}

# talk: runs the rest of a Python program, with what all of them use
talk()
{
	cat >"$tmp/talk.py"
	python3 - "$tmp/socket" "$server" <<-END
	import os, re, socket, sys, time
	def client(text=b""):
	    end = time.time() + 60
	    while True:
	        s = socket.socket(socket.AF_UNIX)
	        try:
	            s.connect(sys.argv[1])
	            break
	        except OSError:
	            assert time.time() < end
	            time.sleep(0.05)
	    s.settimeout(60)
	    s.sendall(text)
	    return s
	def answer(s):
	    got = b""
	    while part := s.recv(65536):
	        got += part
	    return got
	def is_good(text):
	    head, body = text.split(b"\r\n\r\n", 1)
	    assert head.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text;"), head
	    assert b"\r\nConnection: close" in head
	    assert int(re.search(rb"Content-Length: (\d+)", head)[1]) == len(body)
	    assert body.endswith(b"# EOF\n")
	def ticks():
	    return sum(map(int, open(f"/proc/{sys.argv[2]}/stat").read().split(")")[1].split()[11:13]))
	GET = b"GET /metrics HTTP/1.1\r\n\r\n"
	$(cat "$tmp/talk.py")
	END
}

requests()
{
	serve "unix:$tmp/socket" 64
	talk <<-'END'
	for path in b"/", b"/metrics":
	    is_good(answer(client(b"GET " + path + b" HTTP/1.1\r\nA: b\r\n\r\n")))
	for text, status in ((b"POST / HTTP/1.1\r\n\r\n", b"400 Bad Request"),
	                     (b"\r\n\r\n", b"400 Bad Request"),
	                     (b"GET /metricsx HTTP/1.1\r\n\r\n", b"404 Not Found"),
	                     (b"GET /x HTTP/1.1\r\n\r\n", b"404 Not Found")):
	    got = answer(client(text))
	    assert got == b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", got
	# in pieces, each of which is read before the next one comes
	s = client()
	for i in range(len(GET)):
	    s.sendall(GET[i:i + 1])
	    time.sleep(0.01)
	is_good(answer(s))
	# the head is too long, or cut off
	for n in 4094, 4095, 4096, 5000:
	    s = client(b"GET / " + b"x" * (n - 6))
	    if n < 4095:
	        s.shutdown(socket.SHUT_WR)
	    got = b""
	    try:
	        got = answer(s)
	    except ConnectionResetError:	# there was more to read
	        assert n > 4095
	    if n <= 4095:
	        is_good(got)
	s = client(b"GET / HTTP")
	s.shutdown(socket.SHUT_WR)
	assert b"200 OK" in answer(s)
	s = client()
	s.shutdown(socket.SHUT_WR)
	assert b"400 Bad" in answer(s)
	# a longer request of before is not a part of this one
	is_good(answer(client(GET)))
	assert b"400 Bad" in answer(client(b"X\r\n\r\n"))
	# who does not read
	for i in range(40):
	    client(GET).close()
	is_good(answer(client(GET)))
	END
	ends TERM
}

more_than_places()
{
	serve "unix:$tmp/socket" 256
	talk <<-'END'
	is_good(answer(client(GET)))
	first = [client(GET[:1]) for i in range(32)]
	time.sleep(0.1)
	more = client(GET[:1])
	assert answer(first[0]) == b""		# the oldest has made room
	for s in first[1:] + [more]:
	    s.sendall(GET[1:])
	    is_good(answer(s))
	# A connection that says nothing ends in time, and not before.
	began = time.time()
	s = client()
	assert answer(s) == b""
	assert 1.9 < time.time() - began < 30
	# Whoever waits costs nothing.
	before = ticks()
	s = client(b"G")
	assert answer(s) == b""
	time.sleep(0.5)
	assert ticks() - before < 40, ticks() - before
	s = client(GET)
	END
	ends INT
}

# Files of many devices stay open, and leave room for connections.
many_devices()
{
	local i

	fresh
	chmod 755 "$tmp"
	for i in {10..29}; do
		fake "mlx5_$i" "0000:$i:00.0" attached
	done
	(ulimit -n 60; exec "$tool" metrics --listen "unix:$tmp/socket") &
	server=$!
	# shellcheck disable=SC2064 # this process
	trap "kill $server 2>/dev/null || :" EXIT
	talk <<-'END'
	got = answer(client(GET))
	is_good(got)
	assert got.count(b"\nmlx5ep_contexts{") == 40
	END
	ends TERM
}

# open_with N: sets open to the descriptors of a server of N devices that was asked
open_with()
{
	local i dir

	fresh
	for ((i = 10; i < 10 + $1; i++)); do
		fake "mlx5_$i" "0000:$i:00.0" attached
		dir=$root/sys/kernel/debug/mlx5_ep/0000:$i:00.0
		echo 'pid notifier watches bytes events unread' >"$dir/watches"
		dir=$root/sys/class/infiniband/mlx5_$i/mlx5_ep
		: >"$dir/uar_cgroup_limits"
		: >"$dir/uuar_cgroups"
	done
	"$tool" metrics --listen "unix:$tmp/socket" &
	server=$!
	# shellcheck disable=SC2064 # this process
	trap "kill $server 2>/dev/null || :" EXIT
	talk <<-'END'
	is_good(answer(client(GET)))
	END
	open=$(find "/proc/$server/fd" -mindepth 1 | wc -l)
	ends TERM
}

# How many the manual names, for each device and for all else.
descriptors()
{
	local -a words=(no one two three four five six seven eight)
	local open none

	chmod 755 "$tmp"
	open_with 0
	none=$open
	[ "$none" -le 16 ]
	open_with 9
	[ $(((open - none) % 9)) = 0 ]
	grep -q "^It needs ${words[(open - none) / 9]} descriptors for each device" \
		userlib/man/mlx5ep.8 || fail "it has $open, and $none without a device"
}

few_descriptors()
{
	exec 20<&0 21<&0 22<&0 23<&0 24<&0 25<&0 26<&0 27<&0
	serve "unix:$tmp/socket" 34
	talk <<-'END'
	is_good(answer(client(GET)))
	before = ticks()
	silent = [client() for i in range(30)]
	time.sleep(1)
	assert ticks() - before < 60, ticks() - before
	is_good(answer(client(GET)))
	END
	ends TERM
}

# at WHERE: the figures come from this port, to which a server without standard input
# listens
at()
{
	"$tool" metrics --listen "$1" <&- &
	server=$!
	# shellcheck disable=SC2064
	trap "kill $server 2>/dev/null || :" EXIT
	python3 - "$port" <<-'END'
	import socket, sys, time
	end = time.time() + 60
	while True:
	    try:
	        s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
	        break
	    except OSError:
	        assert time.time() < end
	        time.sleep(0.05)
	s.sendall(b"GET / HTTP/1.1\r\n\r\n")
	assert s.recv(12) == b"HTTP/1.1 200"
	END
	code 1 "$tool" metrics --listen "$1"
	grep -q ' in use already: stop who listens there' "$tmp/err"
	ends TERM
}

ports()
{
	local where long

	fresh
	fake mlx5_0 0000:01:00.0 attached
	port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
	# The second time a connection of the first one is not forgotten.
	at "$port"
	at "127.0.0.1:$port"
	for where in 0 65536 -1 x 80x '' unix: 127.0.0.1: "unix:/$(printf '%0107d' 0)"; do
		code 2 timeout $((10 * patience)) "$tool" metrics --listen "$where"
		grep -q ': not PORT, 127.0.0.1:PORT or unix:PATH' "$tmp/err"
	done
	long=$(printf '%s/%0107d' "$tmp" 0)
	"$tool" metrics --listen "unix:${long:0:107}" &
	server=$!
	# shellcheck disable=SC2064
	trap "kill $server 2>/dev/null || :" EXIT
	wait_for 10 test -S "${long:0:107}"
	python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b"GET / HTTP/1.1\r\n\r\n")
assert s.recv(12) == b"HTTP/1.1 200"' "${long:0:107}"
	ends TERM
}

plan 6
check 'requests: whole, in pieces, too long, cut off' requests
check 'more clients than places, and what waits' more_than_places
check 'descriptors: as many as the manual says' descriptors
check 'few descriptors: clients wait for one' few_descriptors
check 'files of many devices leave room for connections' many_devices
check 'ports and paths' ports
ktap_finished
