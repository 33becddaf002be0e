#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: core
#
# The mlx5ep tool on made-up sysfs and debugfs trees: every command, every exit
# code, JSON with the same content as the tables, and changes that are made
# completely or not at all. What doctor finds is in tool_doctor.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

tool=${TOOL:-$PWD/build/bin/mlx5ep}
# shellcheck source=selftests/tool/fake.sh
. selftests/tool/fake.sh

# wide DEVICE PCI: makes rows with the longest value of each column
wide()
{
	local dir=$root/sys/class/infiniband/$1/mlx5_ep
	local path

	printf -v path '/%080d/%0160d' 1 2
	echo "$path shared-uuar 1 256" >"$dir/uuar_cgroups"
	printf '%0100d' 3 >"$dir/uuar_exempt"
	cat >"$root/sys/kernel/debug/mlx5_ep/$2/watches" <<-END
	pid watches capacity bytes events unread xrc_events xrc_unread comm
	4194304 1048576 1048576 281474976710656 4294967295 1048576 1048576 1048576 fifteen letters
	4711 3 1024 36864 7 1 0 0 my program
	END
	printf 'uid contexts pages\n4294967294 4294967295 4294967295\n' \
		>>"$root/sys/kernel/debug/mlx5_ep/$2/users"
}

watches()
{
	fresh
	fake mlx5_0 0000:01:00.0 attached
	code 0 "$tool" show watches
	grep -q '^not readable' "$tmp/out"
	wide mlx5_0 0000:01:00.0
	code 0 "$tool" show watches
	grep -Eq '^ *4711 +3 +1024 +36864 +7 +1 +0 +0 +my program$' "$tmp/out"
	code 0 "$tool" -j show
	jq -e '.devices[0].watches | length == 2 and .[1].watches == 3 and
		.[1].unread == 1 and .[1].comm == "my program"' "$tmp/out"
}

# It ends as if all was shown, so what reads its output has whole tables.
watch_ends()
{
	local signal

	fresh
	fake mlx5_0 0000:01:00.0 attached
	for signal in INT TERM; do
		: >"$tmp/watched"
		"$tool" show -n 0.01 contexts >"$tmp/watched" &
		wait_for 10 test -s "$tmp/watched"
		kill -$signal $!
		code 0 wait $!
	done
}

# xrc_table PCI: makes a domain with a QP at which two processes are registered
xrc_table()
{
	cat >"$root/sys/kernel/debug/mlx5_ep/$1/xrc" <<-'END'
	domain id=1 qps=1 inode=0:25:1234
	qp num=0x000123 domain=1 state=RTS registrants=2 key=0012345678
	registration qp=0x000123 pid=42 comm=my\040job events=notifier
	registration qp=0x000123 pid=43 comm=other events=none
	END
}

xrc()
{
	fresh
	fake mlx5_0 0000:01:00.0 attached
	xrc_table 0000:01:00.0
	code 0 "$tool" show xrc
	grep -q '^  qp  num=291  domain=1  state=RTS  registrants=2  key=0012345678$' \
		"$tmp/out"
	grep -q '^    registration  qp=291  pid=42  comm=my job  events=notifier$' \
		"$tmp/out"
	code 0 "$tool" -j show
	jq -e '.devices[0].xrc | length == 4 and .[1].key == "0012345678" and
		.[2].comm == "my job" and .[0].kind == "domain"' "$tmp/out"
}

usage_errors()
{
	fresh
	fake mlx5_0 0000:01:00.0 attached
	code 2 "$tool"
	grep -q '^Usage: mlx5ep' "$tmp/err"
	code 2 "$tool" --no-such-option
	grep -q '^mlx5ep: see mlx5ep --help' "$tmp/err"
	code 2 "$tool" no-such-command
	code 2 "$tool" show nonsense
	code 2 "$tool" show qps qps
	code 2 "$tool" set
	code 2 "$tool" set --policy fastest
	code 2 "$tool" set --strict maybe
	code 2 "$tool" set --pages 257
	code 2 "$tool" set --pages -1
	code 2 "$tool" set --budget many
	code 2 "$tool" set --cgroup /a --budget 4
	code 2 "$tool" set --cgroup '/a b' --policy stock
	code 2 "$tool" set --cgroup /a --pages 4
	code 2 "$tool" set --cgroup /a --limit 0
	code 2 "$tool" set --cgroup /a --limit many
	code 2 "$tool" set --cgroup /a --clear --policy stock
	code 2 "$tool" set --limit 4
	code 2 "$tool" set --clear
	code 2 "$tool" plan
	code 2 "$tool" plan --threads 0
	code 2 "$tool" plan --threads 4097
	code 2 "$tool" plan --threads 4 --category auto
	code 2 "$tool" plan --threads 4 --bar 12x
	code 2 "$tool" attach
	code 2 "$tool" attach a b
	code 2 "$tool" doctor now
	code 2 "$tool" run --sooner -- true
	grep -qx "mlx5ep run: unrecognized option '--sooner'" "$tmp/err"
	code 2 "$tool" plan --threads
	grep -qx "mlx5ep plan: option '--threads' requires an argument" "$tmp/err"
	code 2 "$tool" show --sort speed
	grep -qx 'mlx5ep show: --sort speed: no table has such a column; see mlx5ep show --help' \
		"$tmp/err"
	code 2 "$tool" show --interval 2x
	code 2 "$tool" show -d mlx5_0 -j
	[ "$(grep stands "$tmp/err")" = 'mlx5ep show: -d stands before the command: mlx5ep -d DEVICE show; see mlx5ep show --help' ]
	code 2 "$tool" show -j
	grep -qF ' -j stands before the command: mlx5ep -j show;' "$tmp/err"
	code 2 "$tool" show --top 0
	code 2 "$tool" show --sort level uuars
	code 2 "$tool" show -n 0
	[ "$(cat "$root/sys/class/infiniband/mlx5_0/mlx5_ep/uuar_policy")" = stock ]
}

missing_things()
{
	fresh
	code 4 "$tool" show
	code 4 "$tool" set --policy stock
	grep -qx 'mlx5ep: no mlx5 device is registered: modprobe mlx5_ib' "$tmp/err"
	code 4 "$tool" attach mlx5_0
	fake mlx5_0 0000:01:00.0
	code 3 "$tool" show
	grep -q 'not attached: the module is not loaded' "$tmp/out"
	code 3 "$tool" set --policy stock
	code 3 "$tool" attach mlx5_0
	code 4 "$tool" -d mlx5_9 show
	code 4 "$tool" -d mlx5_9 plan -t 4
	fresh
	fake mlx5_0 0000:01:00.0 attached
	echo 'not attached: method id 7 is taken' \
		>"$root/sys/class/infiniband/mlx5_0/mlx5_ep/attached"
	code 3 "$tool" show
	grep -q 'method id 7 is taken' "$tmp/out"
}

tables_fit()
{
	local what

	fresh
	fake mlx5_0 0000:01:00.0 attached
	wide mlx5_0 0000:01:00.0
	xrc_table 0000:01:00.0
	for what in all cgroups contexts uuars qps users xrc watches; do
		code 0 "$tool" show "$what"
		awk -v w="$what" 'length > 100 { print w ": " length; bad = 1 }
			END { exit bad }' "$tmp/out"
	done
	code 0 "$tool" plan -t 4096 -p 4096
	awk 'length > 100 { exit 1 }' "$tmp/out"
	grep -q $'\033' "$tmp/out" && fail "colour without a terminal"
	code 0 "$tool" show users
	grep -Eq '^ *1000 +2 +21$' "$tmp/out"
	code 0 "$tool" show uuars
	grep -Eq '^ *33 +0 +4711 +my program +1 +2 +1 +1$' "$tmp/out"
	[ "$(grep -c 4711 "$tmp/out")" -eq 2 ] || fail "an unused uUAR is shown"
}

json_is_json()
{
	fresh
	fake mlx5_0 0000:01:00.0 attached
	code 0 "$tool" -j show
	jq -e '.module and (.devices | length == 1) and
		(.devices[0] | .device == "mlx5_0" and .pci == "0000:01:00.0" and
		 .attached and .policy == "stock" and .budget == 0 and
		 (.contexts | length == 2) and .contexts[0].comm == "my program" and
		 .contexts[0].pid == 4711 and .uuars[2].uar == null and
		 .qps[0].qpn == 18 and .xrc == null)' "$tmp/out"
	code 0 "$tool" -j plan -t 16 -p 4
	jq -e '(.categories | length == 6) and .threads == 16 and
		.categories[2].uar_pages_per_process == 17 and
		.categories[2].published_pages == 96' "$tmp/out"
	code 0 "$tool" -j show -n 0.01 -c 3
	jq -es 'length == 3' "$tmp/out"
}

# cells_of TABLE: each cell of the first row of a table
cells_of()
{
	"$tool" show "$1" | awk -v t="mlx5_0: $1" '$0 == t { getline; getline
		n = split($0, cells, /  +/)
		for (i = 1; i <= n; i++)
			if (sub(/^ */, "", cells[i]) && cells[i] != "")
				print cells[i] }'
}

# Each cell of a table is in the same row of JSON; "-" is null, and "~" ends what is cut.
json_has_the_table()
{
	local table cell

	fresh
	fake mlx5_0 0000:01:00.0 attached
	wide mlx5_0 0000:01:00.0
	for table in contexts uuars qps users watches; do
		cells_of $table >"$tmp/cells"
		[ -s "$tmp/cells" ]
		code 0 "$tool" -j show
		while IFS= read -r cell; do
			[ "$cell" != - ] || continue
			jq -e --arg table $table --arg cell "$cell" \
				'[.devices[0][$table][0][] | if . == null then "-"
				  else tostring end] | any(. == $cell or
				  startswith($cell | select(endswith("~")) | .[:-1]))' \
				"$tmp/out" >/dev/null || fail "$table: JSON lacks $cell"
		done <"$tmp/cells"
	done
	jq -e '.devices[0] | (.uuars + .qps) | all(has("program"))' "$tmp/out"
}

set_sets()
{
	local ep=$root/sys/class/infiniband/mlx5_0/mlx5_ep

	fresh
	fake mlx5_0 0000:01:00.0 attached
	fake mlx5_1 0000:02:00.0 attached
	code 0 "$tool" -d mlx5_0 set --policy independent --strict on \
		--pages 16 --budget 100 --user-limit 7 --exempt 'ucx_perftest other'
	[ "$(cat "$ep/uuar_policy")" = independent ]
	[ "$(cat "$ep/uuar_strict")" = 1 ]
	[ "$(cat "$ep/uuar_pages")" = 16 ]
	[ "$(cat "$ep/uar_budget")" = 100 ]
	[ "$(cat "$ep/uar_user_limit")" = 7 ]
	[ "$(cat "$ep/uuar_exempt")" = 'ucx_perftest other' ]
	[ "$(cat "${ep/mlx5_0/mlx5_1}/uuar_policy")" = stock ]
	code 0 "$tool" set --policy shared-uar
	[ "$(cat "${ep/mlx5_0/mlx5_1}/uuar_policy")" = shared-uar ]
	# The kernel does not pass a write of 0 bytes to the attribute.
	code 0 "$tool" -d mlx5_0 set --exempt ''
	[ "$(wc -c <"$ep/uuar_exempt")" = 1 ]
}

set_undoes()
{
	local ep=$root/sys/class/infiniband/mlx5_0/mlx5_ep

	fresh
	fake mlx5_0 0000:01:00.0 attached
	rm "$ep/uar_budget"
	code 1 "$tool" set --policy independent --pages 16 --budget 100
	grep -q 'has no uar_budget' "$tmp/err"
	[ "$(cat "$ep/uuar_policy")" = stock ] || fail "policy was not put back"
	[ "$(cat "$ep/uuar_pages")" = 0 ] || fail "pages were not put back"
	code 1 "$tool" set --cgroup /a --policy stock
}

# If the second of two devices refuses, the first gets its old settings back.
set_undoes_other_devices()
{
	local ep=$root/sys/class/infiniband/mlx5_0/mlx5_ep

	fresh
	fake mlx5_0 0000:01:00.0 attached
	fake mlx5_1 0000:02:00.0 attached
	echo ucx_perftest >"$ep/uuar_exempt"
	rm "${ep/mlx5_0/mlx5_1}/uuar_exempt"
	code 1 "$tool" set --policy independent --exempt ''
	grep -q 'mlx5_1: this module has no uuar_exempt' "$tmp/err"
	[ "$(cat "$ep/uuar_exempt")" = ucx_perftest ]
	[ "$(cat "$ep/uuar_policy")" = stock ]
	[ "$(cat "${ep/mlx5_0/mlx5_1}/uuar_policy")" = stock ]
	printf '%s\n' '/job70 stock 0 1' '/job7 shared-uar 1 4' \
		>"$ep/uuar_cgroups"
	code 1 "$tool" set --cgroup /job7/ --policy independent
	[ "$(cat "$ep/uuar_cgroups")" = '/job7 shared-uar 1 4' ]
	echo '/job70 stock 0 1' >"$ep/uuar_cgroups"
	code 1 "$tool" set --cgroup /sys/fs/cgroup/job7 --policy independent
	[ "$(cat "$ep/uuar_cgroups")" = '/job7 none 0 0' ]
}

cgroups()
{
	local ep=$root/sys/class/infiniband/mlx5_0/mlx5_ep

	fresh
	fake mlx5_0 0000:01:00.0 attached
	: >"$ep/uuar_cgroups"
	code 0 "$tool" set --cgroup /sys/fs/cgroup/job.slice/7 \
		--policy independent --pages 8
	[ "$(cat "$ep/uuar_cgroups")" = '/job.slice/7 independent 0 8' ]
	code 0 "$tool" show
	grep -Eq '^/job.slice/7 +independent +0 +8$' "$tmp/out"
	code 0 "$tool" -j show
	jq -e '.devices[0].cgroups == [{"path": "/job.slice/7",
		"policy": "independent", "strict": 0, "pages": 8}]' "$tmp/out"
	code 0 "$tool" set --cgroup /job.slice/7 --clear
	[ "$(cat "$ep/uuar_cgroups")" = '/job.slice/7 none 0 0' ]
}

plan_plans()
{
	fresh
	fake mlx5_0 0000:01:00.0 attached
	code 0 "$tool" plan --threads 65
	grep -q "^note: Debian's MPICH has at most 64 VCIs, so some of the 65 threads share" "$tmp/out"
	code 0 "$tool" plan --threads 64
	grep -q '^note:' "$tmp/out" && fail 'a note on 64 threads'
	code 0 "$tool" plan --threads 16 --processes 1
	grep -Eq '^dynamic +17 +17 +24 +32 +16 ' "$tmp/out"
	grep -Eq '^shared-dynamic +9 +9 +16 +16 +16 ' "$tmp/out"
	# The paper has 5.39 MB, for a context, 16 QPs and 16 CQs of the sizes
	# used here.
	grep -Eq '^mpi-everywhere .* 5\.39 +1\.00 +1 +yes$' "$tmp/out"
	grep -Eq '^dynamic .* 1\.64 +1\.00 +1 +yes$' "$tmp/out"
	grep -q 'fastest that fits: 2xdynamic' "$tmp/out"
	code 0 "$tool" plan --threads 16 --processes 1 --bar 128K
	grep -q 'fastest that fits: shared-dynamic' "$tmp/out"
	code 1 "$tool" plan --threads 16 --processes 1000 --bar 1M
	grep -q 'fastest that fits: none' "$tmp/out"
	# The 16 pages and 17 for each process, of 4 KiB each, rounded up to a
	# power of two.
	code 0 "$tool" -j plan --threads 16 --processes 15 --category dynamic
	jq -e '.categories | length == 1 and .[0].uar_pages == 255 and
		.[0].bar_mib == 2' "$tmp/out"
	code 0 "$tool" -j plan --threads 16 --processes 14 --category dynamic
	jq -e '.categories[0].bar_mib == 1' "$tmp/out"
	code 0 "$tool" -j -d mlx5_0 plan --threads 16 --processes 500
	jq -e '.bar_bytes == 33554432 and .fastest_that_fits == "shared-dynamic"' \
		"$tmp/out"
}

attach_asks()
{
	local aux=$root/sys/bus/auxiliary/drivers/mlx5_ib.rdma

	fresh
	fake mlx5_0 0000:01:00.0
	mkdir -p "$aux" "$root/sys/module/mlx5_ep" "$root/proc/42/fd"
	: >"$aux/bind"
	: >"$aux/unbind"
	echo my-job >"$root/proc/42/comm"
	ln -s /dev/infiniband/uverbs0 "$root/proc/42/fd/7"
	ln -s /dev/infiniband/umad1 "$root/proc/42/fd/8"
	ln -s /dev/infiniband/umad0 "$root/proc/42/fd/9"
	ln -s /dev/infiniband/umad0 "$root/proc/42/fd/10"
	mkdir -p "$root/sys/devices/pci0000:00/0000:01:00.0/infiniband_mad/umad0"
	code 1 "$tool" attach mlx5_0
	grep -Ex '  process 42 \(my-job\): (uverbs0, umad0|umad0, uverbs0)' "$tmp/out"
	[ ! -s "$aux/unbind" ] || fail "unbound in spite of a user"
	mkdir -p "$root"/sys/devices/pci0000:00/0000:01:00.0/net/{eth0,ib0,ib1}
	echo 1 >"$root/sys/devices/pci0000:00/0000:01:00.0/net/eth0/type"
	echo 32 | tee "$root"/sys/devices/pci0000:00/0000:01:00.0/net/ib{0,1}/type
	echo 0x1003 >"$root/sys/devices/pci0000:00/0000:01:00.0/net/ib0/flags"
	echo 0x1002 >"$root/sys/devices/pci0000:00/0000:01:00.0/net/ib1/flags"
	code 0 "$tool" -j attach --users mlx5_0
	jq -e '.users[0].pid == 42 and .users[1].interface == "ib0" and
		(.users | length == 2) and .attached == false' "$tmp/out"
	(wait_for 20 test -s "$aux/bind"; fake mlx5_0 0000:01:00.0 attached) &
	code 0 "$tool" attach --force mlx5_0
	wait
	[ "$(cat "$aux/unbind")" = mlx5_core.rdma.0 ]
	[ "$(cat "$aux/bind")" = mlx5_core.rdma.0 ]
	code 0 "$tool" attach mlx5_0
	[ "$(cat "$tmp/out")" = 'mlx5_0: attached already' ]
}

# 256 processes with 64 QPs each
large_tables()
{
	local tables

	fresh
	fake mlx5_0 0000:01:00.0 attached
	tables=$root/sys/kernel/debug/mlx5_ep/0000:01:00.0
	awk 'BEGIN { print "pid policy strict source managed static dynamic held low_latency qps placed used_pages used_uuars shared_uuars comm"
		for (i = 1; i <= 256; i++)
			print 1000 + i, "independent 0 device 1 16 0 4 4 64 64", i, "32 8 job" i }' \
		>"$tables/contexts"
	awk 'BEGIN { print "pid qpn uar page slot level uuar_qps page_qps placer"
		for (i = 0; i < 16384; i++)
			printf "%d 0x%x 33 1 0 3 %d 2 policy\n", 1001 + i / 64, i, i % 64 }' \
		>"$tables/qps"
	code 0 "$tool" show >/dev/null
	[ "$(wc -l <"$tmp/out")" -lt 60 ]
	grep -qx 'and 216 more: mlx5ep show --top N contexts' "$tmp/out"
	code 0 "$tool" show --sort pages --top 2 contexts >/dev/null
	[ "$(grep -o 'job[0-9]*' "$tmp/out" | xargs)" = 'job256 job255' ]
	code 0 "$tool" show --filter pid=1007 qps >/dev/null
	[ "$(grep -c ' 1007  job7 ' "$tmp/out")" = 64 ]
	code 0 "$tool" show --filter job25 contexts >/dev/null
	[ "$(grep -c ' job25' "$tmp/out")" = 8 ]
	code 0 timeout $((5 * patience)) "$tool" show qps >/dev/null
	[ "$(wc -l <"$tmp/out")" -gt 16384 ]
	code 0 "$tool" -j show --top 1 >/dev/null
	jq -e '.devices[0].contexts | length == 256' "$tmp/out"
	code 0 "$tool" show -n 0.01 -c 2 --sort qps --top 1 contexts >/dev/null
	[ "$(grep -c ' job' "$tmp/out")" = 2 ]
	fits_terminal 24
	fits_terminal 60 qps
	fits_terminal 24 --top 5
}

# fits_terminal LINES ARGUMENT...: mlx5ep show -n shows all of it on such a terminal
fits_terminal()
{
	python3 - "$1" "$tool" show -c 1 "${@:2}" <<-'END'
	import fcntl, os, pty, struct, sys, termios
	pid, fd = pty.fork()
	if not pid:
	    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", int(sys.argv[1]), 100, 0, 0))
	    os.environ["TERM"] = "xterm"
	    os.environ.pop("NO_COLOR", None)
	    os.execv(sys.argv[2], sys.argv[2:])
	text = b""
	try:
	    while part := os.read(fd, 65536):
	        text += part
	except OSError:
	    pass
	lines = text.count(b"\n")
	print(f"{lines} lines of {sys.argv[1]}")
	# At least a third is used.
	good = os.waitpid(pid, 0)[1] == 0 and b"job" in text
	sys.exit(not (good and int(sys.argv[1]) / 3 < lines < int(sys.argv[1])))
	END
}

# 10000 shared XRC receive QPs, each with a registration
large_xrc()
{
	fresh
	fake mlx5_0 0000:01:00.0 attached
	awk 'BEGIN { print "domain id=1 qps=10000 inode=0:24:1837"
		for (i = 0; i < 10000; i++) {
			printf "qp num=0x%06x domain=1 state=%s registrants=%d key=00\n", i,
				i % 1000 ? "RTS" : "ERR", 1 + i % 7
			printf "registration qp=0x%06x pid=%d comm=job%d events=none\n", i,
				4000 + i % 100, i % 100
		} }' >"$root/sys/kernel/debug/mlx5_ep/0000:01:00.0/xrc"
	code 0 "$tool" show --top 3 xrc >/dev/null
	[ "$(grep -cE '^ *(domain|qp|registration) ' "$tmp/out")" = 3 ]
	grep -qx 'and 19998 more: mlx5ep show --top N xrc' "$tmp/out"
	code 0 "$tool" show --filter state=ERR xrc >/dev/null
	[ "$(grep -c '^  qp ' "$tmp/out")" = 10 ]
	code 0 "$tool" show --filter job42 xrc >/dev/null
	[ "$(grep -c 'comm=job42 ' "$tmp/out")" = 100 ]
	[ "$(grep -c '^ *registration ' "$tmp/out")" = 100 ]
	code 0 "$tool" show --sort registrants --top 1 xrc >/dev/null
	grep -q '^  qp .* registrants=7 ' "$tmp/out"
	code 2 "$tool" show --sort level xrc
}

# Each command has --help, which names its options and its usage.
every_help()
{
	local command

	code 0 "$tool" --help
	cp "$tmp/out" "$tmp/help"
	for command in $(sed -n '/^Commands/,/^Options/s/^  \([a-z]*\) .*/\1/p' \
		"$tmp/help"); do
		code 0 "$tool" "$command" --help
		grep -q "^Usage: mlx5ep \[-j\] \[-d DEVICE\] $command " "$tmp/out"
	done
	grep -c . "$tmp/help"
	code 0 "$tool" plan --help
	grep -q 'PUBLISHED ' "$tmp/out"
}

# keys COMMAND...: prints the names in its JSON, except the columns of debugfs
# tables
keys()
{
	"$tool" -j "$@" | jq -r '[.. | objects | keys[]] | unique[]'
}

json_is_documented()
{
	local key

	fresh
	fake mlx5_0 0000:01:00.0 attached
	fake mlx5_1 0000:02:00.0
	echo '/job7 stock 0 1' \
		>"$root/sys/class/infiniband/mlx5_0/mlx5_ep/uuar_cgroups"
	rm -r "$root/sys/kernel"
	mkdir -p "$root/proc/42/fd"
	echo my-job >"$root/proc/42/comm"
	ln -s /dev/infiniband/uverbs0 "$root/proc/42/fd/7"
	ln -s "$(printf '%0600d' 0)" "$root/proc/42/fd/8"	# a long name
	mkdir -p "$root/etc"
	printf '[device *]\npages = 3\n' >"$root/etc/mlx5ep.conf"
	for key in $(keys show; keys apply; keys check; keys -d mlx5_0 plan -t 4; keys doctor || true
		keys attach --users mlx5_1); do
		sed -n '/^\.SH JSON/,/^\.SH EXIT/p' userlib/man/mlx5ep.8 | grep -qF "\\fB$key\\fR" ||
			fail "JSON has $key, mlx5ep(8) has not"
	done
}

no_control_characters()
{
	fresh
	fake mlx5_0 0000:01:00.0 attached
	printf 'pid comm\n1 \033[31mred\001\n' \
		>"$root/sys/kernel/debug/mlx5_ep/0000:01:00.0/contexts"
	code 0 "$tool" show contexts
	grep -q $'[\001\033]' "$tmp/out" && fail "control characters are shown"
	grep -q '?\[31mred?' "$tmp/out"
	printf 'registration qp=0x000001 pid=1 comm=\033[31mred events=none\n' \
		>"$root/sys/kernel/debug/mlx5_ep/0000:01:00.0/xrc"
	code 0 "$tool" show xrc
	grep -q 'comm=?\[31mred' "$tmp/out"
	mkdir -p "$root/proc/42/fd" "$root/sys/module/mlx5_ep"
	printf '\033[31mred\n' >"$root/proc/42/comm"
	ln -s /dev/infiniband/uverbs0 "$root/proc/42/fd/7"
	code 0 "$tool" attach --users mlx5_0
	grep -q 'process 42 (?\[31mred)' "$tmp/out"
	# U+009B steers a terminal as ESC [ does.
	printf '\302\23331mred\n' >"$root/proc/42/comm"
	code 0 "$tool" attach --users mlx5_0
	grep -q 'process 42 (??31mred)' "$tmp/out"
}

# Bytes that are no UTF-8 are no JSON and no OpenMetrics.
all_is_utf8()
{
	local bytes good='\303\244\342\202\254\360\237\230\200'
	local ep=$root/sys/class/infiniband/mlx5_0/mlx5_ep

	fresh
	fake mlx5_0 0000:01:00.0 attached
	# no first byte, cut, overlong, surrogate, beyond U+10FFFF, C1
	for bytes in '\377' '\200' '\303' '\342\202' '\300\257' '\340\200\257' \
		'\360\200\200\200' '\355\240\200' '\364\220\200\200' '\302\205'; do
		printf 'pid comm\n1 a%bz\n' "$bytes$good$bytes" \
			>"$root/sys/kernel/debug/mlx5_ep/0000:01:00.0/contexts"
		printf "/a$bytes$good 7\n" >"$ep/uar_cgroup_limits"
		printf "x$bytes\n" >"$ep/uuar_exempt"
		code 0 "$tool" -j show >/dev/null
		iconv -f UTF-8 -t UTF-8 "$tmp/out" >/dev/null
		jq -e --arg good "$(printf '%b' "$good")" '.devices[0].contexts[0].comm |
			test("^a\\?+" + $good + "\\?+z$")' "$tmp/out"
		code 0 "$tool" metrics >/dev/null
		iconv -f UTF-8 -t UTF-8 "$tmp/out" >/dev/null
		grep -q "cgroup=\"/a?*$(printf '%b' "$good")\"} 7" "$tmp/out"
		code 0 "$tool" show >/dev/null
		iconv -f UTF-8 -t UTF-8 "$tmp/out" >/dev/null
	done
	# A cell is not cut within a character.
	printf 'pid comm\n1 %0150d\n' 0 | sed 's/0/\xc3\xa4/g; 2s/^[^ ]* */1 /' \
		>"$root/sys/kernel/debug/mlx5_ep/0000:01:00.0/contexts"
	code 0 "$tool" show contexts >/dev/null
	iconv -f UTF-8 -t UTF-8 "$tmp/out" >/dev/null
}

# A process is one line of the table, whatever characters are in its name.
names_are_one_line()
{
	fresh
	fake mlx5_0 0000:01:00.0 attached
	printf 'pid comm\n1 a\\012b\\134 c\n' \
		>"$root/sys/kernel/debug/mlx5_ep/0000:01:00.0/contexts"
	code 0 "$tool" -j show
	jq -e '.devices[0].contexts == [{"pid": 1, "comm": "a\nb\\ c"}]' "$tmp/out"
}

# on_terminal CMD...: prints what CMD writes to a terminal
on_terminal()
{
	script -qec "$*" /dev/null </dev/null >"$tmp/out"
}

colour()
{
	fresh
	fake mlx5_0 0000:01:00.0 attached
	on_terminal "$tool" show
	grep -q $'\033\[' "$tmp/out"
	on_terminal env NO_COLOR=1 "$tool" show
	! grep -q $'\033\[' "$tmp/out" || fail "colour in spite of NO_COLOR"
	on_terminal "$tool" -j show
	! grep -q $'\033\[' "$tmp/out" || fail "colour in JSON"
	code 0 "$tool" show
	! grep -q $'\033\[' "$tmp/out" || fail "colour without a terminal"
}

full_output()
{
	fresh
	fake mlx5_0 0000:01:00.0 attached
	code 1 sh -c "$tool show >/dev/full"
	grep -q 'cannot write the output' "$tmp/err"
}

plan 23
check "wrong usage is exit code 2 and changes nothing" usage_errors
check "no device, no module and not attached have codes of their own" \
	missing_things
check "no table is wider than 100 columns" tables_fit
check "-j prints JSON with the same content" json_is_json
check "each cell of a table is in JSON" json_has_the_table
check "what -j prints is documented" json_is_documented
check "set writes what it is told, to the device it is told" set_sets
check "set puts back what it wrote before a failure" set_undoes
check "set puts back other devices, too" set_undoes_other_devices
check "set --cgroup writes and clears a cgroup's policy" cgroups
check "plan computes pages and picks the fastest category that fits" plan_plans
check "attach lists users and refuses to take the device away" attach_asks
check "show xrc lists domains, QPs, keys and registrants" xrc
check "show watches has a row per notifier" watches
check "watch ends by a signal with exit code 0" watch_ends
check "control characters of a program's name stay off the terminal" \
	no_control_characters
check 'all output is UTF-8' all_is_utf8
check "a program's name may have any byte" names_are_one_line
check "colour on a terminal only" colour
check "a full disk is a failure" full_output
check "256 processes with 64 QPs: cut, sorted, filtered" large_tables
check '10000 shared QPs: cut, sorted, filtered' large_xrc
check "every command has --help" every_help
ktap_finished
