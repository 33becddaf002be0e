# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# A server that a client is started for, in a guest.

# tasks PID: prints the threads of a process and of its children, with | between them
tasks()
{
	local pid

	for pid in "$1" $(pgrep -P "$1"); do
		ls "/proc/$pid/task" 2>/dev/null || true
	done | paste -sd'|'
}

# waits_for_client PID: does the server wait, by TCP or by librdmacm, or has it ended? The
# rdma tool names the thread that waits.
waits_for_client()
{
	local tasks

	kill -0 "$1" 2>/dev/null || return 0
	tasks=$(tasks "$1")
	ss -Hltnp | grep -E "pid=($tasks)," >/dev/null ||
		rdma resource show cm_id 2>/dev/null |
			grep -E "state LISTEN.* pid ($tasks) " >/dev/null
}

# serve OUTPUT SERVER...: starts the server, and waits until it waits for a client; sets
# server_pid. A server whose sockets the tools do not show prints "listening".
serve()
{
	local i

	"${@:2}" >"$1" 2>&1 &
	server_pid=$!
	for ((i = 0; i < 100; i++)); do
		! waits_for_client "$server_pid" || break
		! grep -qx listening "$1" || break
		sleep 0.2
	done
}

# serve_end: waits for the end of the server. It may wait for ever when its client has
# failed.
serve_end()
{
	local i

	for ((i = 0; i < 50; i++)); do
		kill -0 "$server_pid" 2>/dev/null || break
		sleep 0.2
	done
	kill "$server_pid" 2>/dev/null || true
	wait "$server_pid"
}
