#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: core
#
# mlx5ep in whole: all that its tables, its JSON and its reports say of one tree; and at
# the edges: without standard input, with few descriptors, long paths, a full disk.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

tool=${TOOL:-$PWD/build/san/bin/mlx5ep}
# dlopen() of the sanitizer looks for a library in its own folders, not in the tool's.
export LD_LIBRARY_PATH=${tool%/bin/*}/lib
export ASAN_OPTIONS=detect_leaks=1
# shellcheck source=selftests/tool/fake.sh
. selftests/tool/fake.sh

# tree: two devices, of which one is attached; no two figures of it are the same
tree()
{
	fresh
	fake mlx5_0 0000:01:00.0 attached
	fake mlx5_1 0000:02:00.0
	ep=$root/sys/class/infiniband/mlx5_0/mlx5_ep
	tables=$root/sys/kernel/debug/mlx5_ep/0000:01:00.0
	conf=$root/etc/mlx5ep.conf
	echo 'yes, but not seen in 3 net namespaces' >"$ep/attached"
	echo shared-uar >"$ep/uuar_policy"
	echo 1 >"$ep/uuar_strict"
	echo 2 >"$ep/uuar_pages"
	echo 300 >"$ep/uar_budget"
	echo 250 >"$ep/uar_budget_effective"
	echo 40 >"$ep/uar_user_limit"
	echo 5 >"$ep/uar_in_use"
	echo 6 >"$ep/uar_observed"
	echo 7 >"$ep/uuar_fallbacks"
	echo 'one two' >"$ep/uuar_exempt"
	echo '/job7 stock 1 4' >"$ep/uuar_cgroups"
	: >"$ep/uar_cgroup_limits"
	cat >"$tables/contexts" <<-END
	pid policy strict source managed static dynamic held low_latency qps placed used_pages used_uuars shared_uuars comm
	1 stock 0 device 1 2 3 4 5 6 7 8 9 10 a b
	END
	cat >"$tables/watches" <<-END
	pid watches capacity bytes events unread xrc_events xrc_unread comm
	1 2 3 4 5 6 7 8 c d
	END
	cat >"$tables/xrc" <<-END
	domain id=1 qps=1
	qp num=0x000123 domain=1
	END
	cat >"$tables/uuars" <<-END
	pid uar page slot qps locked blueflame
	1 33 1 0 2 1 1
	2 34 2 1 0 0 1
	9 - 0 1 1 1 0
	END
	mkdir -p "$root/etc" "$root/run" "$root/sys/fs/cgroup/job7" "$root/proc/sys/kernel"
	printf '%s\n' '[device *]' 'pages = 3' '[module]' 'notifiers_per_user = 8' \
		>"$conf"
	echo 4 >"$root/sys/module/mlx5_ep/parameters/notifiers_per_user"
	echo 6.12.1-amd64 >"$root/proc/sys/kernel/osrelease"
}

# prints CMD...: the output is what stands on standard input
prints()
{
	code 0 "$@" >/dev/null
	diff - "$tmp/out" || fail "$*"
}

# Each table names the devices first.
devices()
{
	cat <<-END
	mlx5_1 (0000:02:00.0): not attached: the module has not taken it
	DEVICE  PCI           POLICY      STRICT  PAGES  BUDGET  IN-USE  OBSERVED  FALLBACKS  EXEMPT
	mlx5_0  0000:01:00.0  shared-uar       1      2     300       5         6          7  one two
	END
}

of_file()
{
	cat <<-END

	mlx5_0: differs from /etc/mlx5ep.conf
	SETTING  NOW  SAVED  LINE
	pages    2    3         2
	END
}

of_module()
{
	cat <<-END

	module: differs from /etc/mlx5ep.conf
	SETTING             NOW  SAVED  LINE
	notifiers_per_user  4    8         4
	END
}

of_cgroups()
{
	cat <<-END

	mlx5_0: cgroups
	CGROUP  POLICY  STRICT  PAGES
	/job7   stock        1      4
	END
}

of_contexts()
{
	cat <<-END

	mlx5_0: contexts
	PID  POLICY  WHY     STRICT  MANAGED  STATIC  DYNAMIC  HELD  QPS  PAGES  UUARS  SHARED  PROGRAM
	  1  stock   device       0        1       2        3     4    6      8      9      10  a b
	END
}

of_uuars()
{
	cat <<-END

	mlx5_0: uuars
	UAR  SLOT  PID  PROGRAM  PAGE  SHARERS  LOCKED  BLUEFLAME
	 33     0    1  a b         1        2       1          1
	  -     1    9  -           0        1       1          0
	END
}

# of NAME: a table that the others are not shown with
of()
{
	printf '\nmlx5_0: %s\n' "$1"
	cat
}

shows_whole()
{
	tree
	{ devices; of_file; of_cgroups; of_contexts; of_uuars; of_module; } >"$tmp/all"
	prints "$tool" show <"$tmp/all"
	prints "$tool" show all <"$tmp/all"
	prints "$tool" show differs < <(devices; of_file; of_module)
	prints "$tool" show cgroups < <(devices; of_cgroups)
	prints "$tool" show contexts < <(devices; of_contexts)
	prints "$tool" show uuars < <(devices; of_uuars)
	prints "$tool" show qps < <(
		devices
		of qps <<-END
		QPN   PID  PROGRAM  UAR  PAGE  SLOT  LEVEL  SHARERS  ON-PAGE  PLACED-BY
		 18  4711  -         33     1     0      3        2        2  policy
		 19  4712  -          -     -     -      -        -        -  driver
		END
	)
	prints "$tool" show users < <(
		devices
		of users <<-END
		 UID  CONTEXTS  UAR-PAGES
		1000         2         21
		END
	)
	prints "$tool" show xrc < <(
		devices
		of xrc <<-END
		domain  id=1  qps=1
		  qp  num=291  domain=1
		END
	)
	prints "$tool" show watches < <(
		devices
		of watches <<-END
		PID  WATCHES  CAPACITY  BYTES  EVENTS  UNREAD  XRC-EVENTS  XRC-UNREAD  PROGRAM
		  1        2         3      4       5       6           7           8  c d
		END
	)
	# A line of the table that is too long ends where a line ends.
	printf 'domain id=1 text=%0300d more=1\n' 0 >"$tables/xrc"
	code 0 "$tool" show xrc
	grep -q '^domain  id=1  text=0*$' "$tmp/out"
	rm -r "$root/sys/kernel"
	code 0 "$tool" show
	grep -qx "mlx5_0: contexts of this user's processes" "$tmp/out"
	grep -qx "mlx5_0: uuars of this user's processes" "$tmp/out"
	must_fail grep 'may not trace' "$tmp/out"
	prints "$tool" show qps < <(
		devices
		of qps <<-END
		not readable: debugfs needs root, or the module has no such table
		END
	)
}

# Names of programs are not looked up here.
is_json()
{
	tree
	printf 'pid qpn uar\n7 0x12 -\n' >"$tables/qps"
	printf 'pid uar\n' >"$tables/uuars"
	code 0 "$tool" -j show
	jq -e '. == {module: true, differs: [{setting: "notifiers_per_user",
		attribute: "notifiers_per_user", now: "4", saved: "8", line: 4}],
		devices: [{device: "mlx5_0", pci: "0000:01:00.0", attached: true,
		half: false, unseen: 3, abi_version: 1, policy: "shared-uar", strict: 1, pages: 2,
		budget: 300, budget_effective: 250, user_limit: 40, in_use: 5,
		observed: 6, fallbacks: 7, exempt: "one two",
		cgroups: [{path: "/job7", policy: "stock", strict: 1, pages: 4}],
		contexts: [{pid: 1, policy: "stock", strict: 0, source: "device",
			managed: 1, static: 2, dynamic: 3, held: 4, low_latency: 5,
			qps: 6, placed: 7, used_pages: 8, used_uuars: 9,
			shared_uuars: 10, comm: "a b"}],
		uuars: [], qps: [{pid: 7, qpn: 18, uar: null, program: null}],
		users: [{uid: 1000, contexts: 2, pages: 21}],
		xrc: [{kind: "domain", id: 1, qps: 1},
			{kind: "qp", num: 291, domain: 1}],
		watches: [{pid: 1, watches: 2, capacity: 3, bytes: 4, events: 5,
			unread: 6, xrc_events: 7, xrc_unread: 8, comm: "c d"}],
		differs: [{setting: "pages", attribute: "uuar_pages", now: "2",
			saved: "3", line: 2}]},
		{device: "mlx5_1", pci: "0000:02:00.0", attached: false,
			reason: "the module has not taken it"}]}' "$tmp/out"
	# Of an older module all is there that it has.
	rm "$ep/uuar_policy" "$ep/uar_observed" "$ep/uuar_cgroups"
	code 0 "$tool" -j show
	jq -e '.devices[0] | has("pages") and (has("policy") or has("observed") or
		has("cgroups") | not)' "$tmp/out"
}

reports_whole()
{
	tree
	echo 'softdep mlx5_ib pre: mlx5_ep' >"$root/etc/modprobe.conf"
	mkdir "$root/etc/modprobe.d"
	mv "$root/etc/modprobe.conf" "$root/etc/modprobe.d/a.conf"
	code 1 "$tool" doctor
	diff - <(grep -v 'locked memory\|limits\.d\|: UCX: ' "$tmp/out") <<-END
	ok: kernel: 6.12.1-amd64
	ok: module: mlx5_ep is loaded
	ok: boot order: mlx5_ib loads mlx5_ep before itself
	ok: attaching: on
	ok: debugfs: readable
	ok: mlx5_0: attached
	warning: mlx5_0: not seen in 3 net namespaces
	    mend with: the kernel log says why; make these namespaces again
	warning: mlx5_0: 7 contexts could not get the policy and are stock
	    mend with: mlx5ep -d mlx5_0 show contexts
	problem: mlx5_1: not attached: the module has not taken it
	    mend with: mlx5ep attach mlx5_1
	ok: unloading: mlx5_ep is held by mlx5_0
	END
	code 1 "$tool" -j doctor
	jq -e '.[1] == {verdict: "ok", what: "module", finding: "mlx5_ep is loaded",
		remedy: null} and .[-4] == {verdict: "problem", what: "mlx5_1",
		finding: "not attached: the module has not taken it",
		remedy: "mlx5ep attach mlx5_1"}' "$tmp/out"
}

# ucp_of MAJOR MINOR: makes a library of UCX that says so
ucp_of()
{
	gcc -shared -fPIC -Wl,-soname,libucp.so.0 -o "$tmp/libucp.so.0" -x c - <<-END
		void ucp_get_version(unsigned *major, unsigned *minor, unsigned *release)
		{
			*major = $1;
			*minor = $2;
			*release = 9;
		}
	END
}

# finds VERDICT FINDING: what doctor says of UCX begins so
finds()
{
	"$tool" doctor >"$tmp/out" || true
	grep "UCX" "$tmp/out"
	grep -q "^$1: UCX: $2" "$tmp/out"
}

looks_at_ucx()
{
	tree
	finds ok '1\.[0-9.]* can be told by libmlx5ep-ucx$'
	mkdir -p "$root/dev" "$root/sys/module/mlx5_ep/parameters"
	: >"$root/dev/knem"
	finds warning '/dev/knem is there: UCX keeps its own hooks, also with libmlx5ep-ucx$'
	mv "$root"/dev/{knem,xpmem}
	finds warning '/dev/xpmem is there'
	rm "$root/dev/xpmem"
	echo 100 >"$root/sys/module/mlx5_ep/parameters/notifier_max_watches"
	finds warning 'a process has at most 100 watches'
	rm "$root/sys/module/mlx5_ep/parameters/notifier_max_watches"
	ucp_of 1 16
	LD_LIBRARY_PATH=$tmp:$LD_LIBRARY_PATH finds warning \
		'1\.16\.9 keeps its own hooks: libmlx5ep-ucx works with 1.17 and later$'
	ucp_of 1 99
	LD_LIBRARY_PATH=$tmp:$LD_LIBRARY_PATH finds warning \
		'1\.99\.9 keeps its own hooks: it is newer than what libmlx5ep-ucx was run with$'
	rm "$tmp/libucp.so.0"
}

plans_whole()
{
	tree
	prints "$tool" plan -t 2 -p 2 -b 2M <<-END
	2 processes of 2 threads
	CATEGORY        PAGES/PROC  UAR-PAGES  PUBLISHED  UUARS  QPS=CQS  MEM-MIB  BAR-MIB  LEVEL  FITS
	mpi-everywhere           4          8         32      8        4     1.35     1.00      1   yes
	2xdynamic                5         10         24     16        8     1.20     1.00      1   yes
	dynamic                  3          6         20      8        4     0.85     1.00      1   yes
	shared-dynamic           2          4         18      4        4     0.85     1.00      2   yes
	static                   2          4         16      4        4     0.85     1.00      2   yes
	mpi-threads              2          4         16      4        2     0.67     1.00      4   yes

	fastest that fits: 2xdynamic
	END
	prints "$tool" plan -t 1 -c mpi-everywhere -b 1M <<-END
	1 process of 1 thread
	CATEGORY        PAGES/PROC  UAR-PAGES  PUBLISHED  UUARS  QPS=CQS  MEM-MIB  BAR-MIB  LEVEL  FITS
	mpi-everywhere           2          2          8      2        1     0.34     1.00      1   yes

	fastest that fits: mpi-everywhere
	END
	code 0 "$tool" -j plan -t 16 -p 4
	jq -e 'has("bar_bytes") | not' "$tmp/out"
	jq -e '.threads == 16 and .processes == 4 and
		.fastest_that_fits == "2xdynamic" and .categories[3] == {
		category: "shared-dynamic", uar_pages_per_process: 9, uar_pages: 36,
		published_pages: 64, uuars: 64, qps: 64, cqs: 64, contexts: 4,
		memory_mib: 6.56, bar_mib: 1, level: 2, fits: true}' "$tmp/out"
}

# bar SIZE BYTES: --bar takes the size
bar()
{
	code 0 "$tool" -j plan -t 1 -b "$1" >/dev/null
	jq -e --argjson n "$2" '.bar_bytes == $n' "$tmp/out"
}

plans_bars()
{
	local size

	tree
	bar 131072 131072
	bar 128k 131072
	bar 3M 3145728
	bar 3m 3145728
	bar 2G 2147483648
	bar 2g 2147483648
	bar 16383G 17591112302592
	for size in 0 '' -1 K 3X 3KB 3G3 17592186044416 \
		16384G 17179869184G 17179869185G 17592186044416K; do
		code 2 "$tool" plan -t 1 --bar "$size" >/dev/null
	done
	code 2 "$tool" plan -t 1 -p 0
	code 2 "$tool" plan -t 1 -p 4097
	code 2 "$tool" plan -t 1 x
	code 0 "$tool" plan -t 1 -p 4096 -c static
	# 17 pages, with those that are never allocated: what fits just so.
	code 0 "$tool" plan -t 16 -c dynamic -b $(((17 + 16) * 4))K
	grep -q ' yes$' "$tmp/out"
	code 1 "$tool" -j plan -t 16 -c dynamic -b $(((17 + 16) * 4 - 1))K
	jq -e '.fastest_that_fits == null and .categories[0].fits == false' "$tmp/out"
	code 0 "$tool" -d mlx5_1 -j plan -t 1 -b 1M
	jq -e '.bar_bytes == 1048576' "$tmp/out"
	code 4 "$tool" -d mlx5_7 plan -t 1
	code 0 "$tool" -d mlx5_7 plan -t 1 -b 1M
}

# all_commands TOOL...: prints what each command says and has done
all_commands()
{
	local i

	tree
	for i in {1..30}; do
		mkdir -p "$root/proc/$i/fd"
		echo "job $i" >"$root/proc/$i/comm"
		ln -s /dev/infiniband/uverbs0 "$root/proc/$i/fd/7"
	done
	mkdir -p "$root"/etc/modprobe.d "$root"/usr/src/mlx5_ep-0.9.0 \
		"$root/lib/modules/6.12.1-amd64"
	for i in {1..30}; do
		echo "# $i" >"$root/etc/modprobe.d/$i.conf"
	done
	{
		"$@" show
		"$@" -j show
		"$@" doctor | grep -v 'locked memory'
		"$@" attach --users mlx5_1
		"$@" check
		"$@" metrics | grep -v seconds
		"$@" set --policy stock --strict off --pages 7 --budget 8 \
			--user-limit 9 --exempt a
		"$@" set --cgroup /job7 --policy stock --limit 5 --save
		"$@" apply
		"$@" apply --once
		"$@" set --pages 9 --save
		"$@" check
	} 2>&1
	cat "$conf" "$root/run/mlx5ep/0000:01:00.0" | sed 's/^[0-9]* //'
	(cd "$ep" && grep -r .)
}

few_descriptors()
{
	(ulimit -n 12; exec "$tool" "$@")
}

no_input()
{
	"$tool" "$@" <&-
}

# same_with TOOL...: all commands say and do what they do in a plain shell
same_with()
{
	all_commands "$tool" >"$tmp/usual" || :
	grep -q '^pages = 9$' "$tmp/usual"
	grep -q '^uar_user_limit:9$' "$tmp/usual"
	all_commands "$@" >"$tmp/other" || :
	diff "$tmp/usual" "$tmp/other"
}

# A descriptor that a function leaves open is missing sooner or later.
few_are_enough()
{
	same_with few_descriptors
}

closed_input()
{
	same_with no_input
	# Without a lock, which has the number 0 otherwise.
	tree
	rm -r "$root/run"
	code 0 "$tool" set --pages 9 --save <&-
	[ "$(cat "$ep/uuar_pages")" = 9 ]
	grep -qx 'pages = 9' "$conf"
	rm "$conf"
	code 0 "$tool" set --pages 8 --save <&-
	grep -qx 'pages = 8' "$conf"
}

# is_held FILE: has a process locked the file?
is_held()
{
	local ret=0

	flock --nonblock "$1" true || ret=$?
	[ "$ret" = 1 ]
}

# waited_for FILE: does a process wait for the lock of the file?
waited_for()
{
	grep -q -- "-> FLOCK .*:$(stat -c %i "$1") " /proc/locks
}

locks()
{
	local lock=$root/run/mlx5ep/lock holds waits

	tree
	code 0 "$tool" set --pages 9
	[ "$(stat -c %a "$lock")" = 600 ]
	# The lock has the number 0.
	flock --no-fork "$lock" sleep 1000 &
	holds=$!
	# shellcheck disable=SC2064 # this process
	trap "kill $holds 2>/dev/null || :" EXIT
	wait_for 10 is_held "$lock"
	timeout $((10 * patience)) "$tool" set --pages 10 <&- &
	waits=$!
	wait_for 10 waited_for "$lock"
	[ "$(cat "$ep/uuar_pages")" = 9 ]
	kill $holds
	wait $waits
	[ "$(cat "$ep/uuar_pages")" = 10 ]
	# Who can write there leads nobody elsewhere.
	rm "$lock"
	ln -s "$tmp/elsewhere" "$lock"
	code 0 "$tool" set --pages 11
	[ ! -e "$tmp/elsewhere" ] || fail 'a link was followed'
	[ "$(cat "$ep/uuar_pages")" = 11 ]
}

notes()
{
	local note=$root/run/mlx5ep/0000:01:00.0

	umask 022
	tree
	code 0 "$tool" apply --once
	[ "$(stat -c %a "$note")" = 644 ]
	grep -q ' mlx5_0$' "$note"
	# A name that is shorter takes the place of the longer one.
	mv "$root/sys/class/infiniband/mlx5_0" "$root/sys/class/infiniband/ib0"
	ep=$root/sys/class/infiniband/ib0/mlx5_ep
	echo 9 >"$ep/uuar_pages"
	code 0 "$tool" apply --once
	[ "$(cat "$ep/uuar_pages")" = 3 ]
	grep -q ' ib0$' "$note"
	echo 9 >"$ep/uuar_pages"
	code 0 "$tool" apply --once
	[ "$(cat "$ep/uuar_pages")" = 9 ]
	rm "$note"
	ln -s "$tmp/elsewhere" "$note"
	code 0 "$tool" apply --once
	[ ! -e "$tmp/elsewhere" ] || fail 'a link was followed'
	# Nothing is noted in part.
	rm "$note" "$root/sys/module/mlx5_ep/parameters/defaults" || :
	printf '[device *]\npages = 3\n' >"$conf"
	echo 3 >"$ep/uuar_pages"
	bash -c "trap '' XFSZ; ulimit -f 0; $tool apply --once 0000:01:00.0" \
		2>"$tmp/err" || fail "$(cat "$tmp/err")"
	[ ! -e "$note" ] || fail 'it is noted in part'
}

# The file as it is, and what set makes of it
changes()
{
	printf '%b' "$1" >"$conf"
	code 0 "$tool" "${@:3}" --save
	diff <(printf '%b' "$2") "$conf"
	[ "$(ls "$root/etc")" = mlx5ep.conf ]
}

saves()
{
	local n lines

	tree
	changes '[device mlx5_0]\n\tpages\t=\t3\t# x\n' \
		'[device mlx5_0]\n\tpages\t=\t4\t# x\n' -d mlx5_0 set --pages 4
	changes ' \t[device mlx5_0] ; y\npages = 3\n' \
		' \t[device mlx5_0] ; y\npages = 4\n' -d mlx5_0 set --pages 4
	changes '[device 0000:01:00.0]\npages = 3\n' \
		'[device 0000:01:00.0]\npages = 4\n' -d mlx5_0 set --pages 4
	changes '[device *]\nstrict = on\n\n# z\n\n[module]\n' \
		'[device *]\nstrict = on\n\n# z\npages = 4\n\n[module]\n' set --pages 4
	changes '[device *]\npages = 3\n[device *]\nbudget = 1\n' \
		'[device *]\npages = 4\n[device *]\nbudget = 1\n' set --pages 4
	changes '[device *]\npages = 3\nstrict = on\nbudget = 1\n' \
		'[device *]\npages = 4\nstrict = off\nbudget = 2\n' \
		set --pages 4 --strict off --budget 2
	changes '[module]\n' '[module]\n\n[cgroup /job7]\npolicy = stock\nlimit = 3\n' \
		set --cgroup /job7 --policy stock --limit 3
	changes '' '[cgroup /job7 device 0000:01:00.0]\nlimit = 3\n' \
		-d mlx5_0 set --cgroup /job7 --limit 3
	changes '[cgroup /a]\nlimit = 1\n[cgroup /job7]\nlimit = 2\n[cgroup /b]\nlimit = 3\n' \
		'[cgroup /a]\nlimit = 1\n[cgroup /job7]\n[cgroup /b]\nlimit = 3\n' \
		set --cgroup /job7 --limit none
	# Room for lines is made as they come.
	for n in 62 63 64 65 127 128 129 300; do
		printf -v lines '# %s\\n' $(seq $n)
		changes "${lines}[device *]\nbudget = 1\n$lines" \
			"${lines}[device *]\nbudget = 1\n${lines}pages = 4\n" set --pages 4
	done
}

saves_nothing()
{
	local long=$root/etc/long/folder inner

	tree
	cp "$conf" "$tmp/conf"
	echo nonsense >>"$conf"
	code 1 "$tool" set --pages 9 --save
	[ "$(cat "$ep/uuar_pages")" = 2 ]
	cp "$tmp/conf" "$conf"
	# A link to a path that has no room for the name of the new file.
	while [ ${#long} -lt 400 ]; do
		long=$long/aaaaaaaaaaaaaaa
	done
	mkdir -p "$long"
	for n in 503 504 505; do
		printf -v inner "%0$((n - ${#long} - 1))d" 0
		cp "$tmp/conf" "$long/$inner"
		ln -sf "$long/$inner" "$conf"
		[ $n = 503 ] || {
			code 1 "$tool" set --pages 9 --save
			grep -q 'the path is too long' "$tmp/err"
			continue
		}
		code 0 "$tool" set --pages 8 --save
		grep -qx 'pages = 8' "$long/$inner"
	done
	[ "$(cat "$ep/uuar_pages")" = 8 ]
	rm -r "$conf" "$root/etc/long"
	# A disk that is full, or a file that cannot be read.
	cp "$tmp/conf" "$conf"
	printf '# a comment of %d\n' {1..1000} >>"$conf"
	cp "$conf" "$tmp/conf"
	code 1 bash -c "trap '' XFSZ; ulimit -f 4; exec $tool set --pages 9 --save"
	cmp "$conf" "$tmp/conf"
	[ "$(ls "$root/etc")" = mlx5ep.conf ]
	[ "$(cat "$ep/uuar_pages")" = 8 ]
	rm "$conf"
	mkdir "$conf"
	code 1 "$tool" set --pages 9 --save
	[ "$(cat "$ep/uuar_pages")" = 8 ]
}

# milliseconds CMD...: prints how long it takes
milliseconds()
{
	local began

	began=$(date +%s%3N)
	"$@" >"$tmp/out"
	echo $(($(date +%s%3N) - began))
}

watches()
{
	tree
	[ "$(milliseconds "$tool" show -n 0.3 -c 2)" -ge 300 ]
	[ "$(milliseconds "$tool" show -n 1.1 -c 2 contexts)" -ge 1100 ]
	prints "$tool" show -n 0.01 -c 2 contexts < <(devices; of_contexts; echo; devices; of_contexts; echo)
	# Nothing is waited for before the first time.
	code 0 timeout $((10 * patience)) "$tool" show -n 999999 -c 1 -s pid -f a -t 1
	code 2 "$tool" show -n 1000000 -c 1
	code 2 "$tool" show -n 1x -c 1
	code 2 "$tool" show -n '' -c 1
	code 0 "$tool" -j show -n 0.01 -c 2
	must_fail grep -qx '' "$tmp/out"
	code 1 timeout $((10 * patience)) sh -c "$tool show -n 0.01 >/dev/full"
	code 4 timeout $((10 * patience)) "$tool" -d mlx5_7 show -n 0.01
	# A signal ends the wait, and what would have come behind it.
	"$tool" show -n 1000 contexts >"$tmp/watched" &
	# shellcheck disable=SC2064 # this process
	trap "kill $! 2>/dev/null || :" EXIT
	wait_for 10 grep -q '^  1 ' "$tmp/watched"
	kill $!
	code 0 wait $!
	[ "$(grep -c '^DEVICE' "$tmp/watched")" = 1 ]
}

sets_cgroups()
{
	tree
	: >"$ep/uuar_cgroups"
	code 1 "$tool" set --cgroup /job7 --limit none
	grep -q '/job7: no such cgroup, or nothing is set for it' "$tmp/err"
	code 1 "$tool" set --cgroup /job7 --clear --limit none
	echo '/job7 stock 1 4' >"$ep/uuar_cgroups"
	echo '/job7 9' >"$ep/uar_cgroup_limits"
	code 0 "$tool" set --cgroup /job7 --clear --limit none
	[ "$(cat "$ep/uuar_cgroups" "$ep/uar_cgroup_limits")" = \
		$'/job7 none 0 0\n/job7 none' ]
	code 0 "$tool" set --cgroup /job7 --policy independent --strict on --pages 3 --limit 6
	[ "$(cat "$ep/uuar_cgroups" "$ep/uar_cgroup_limits")" = \
		$'/job7 independent 1 3\n/job7 6' ]
	says_why '--limit 0: 0 is no limit; none takes the limit away' --cgroup /a --limit 0
	says_why '--user-limit x: not a number' --user-limit x
	says_why 'nothing to set' --save
	says_why 'nothing to set' --cgroup /a
	says_why '--clear is allowed' --clear --pages 3
	says_why '--clear is allowed' --cgroup /a --clear --limit 3 --pages 3
	says_why 'with --cgroup only' --cgroup /a --policy stock --exempt x
	says_why 'with --cgroup only' --cgroup /a --policy stock --user-limit 3
	says_why 'with --cgroup, --strict and --pages need --policy' --cgroup /a --strict on
	says_why '--limit needs --cgroup' --limit 3 --policy stock
	says_why 'x: unexpected' --policy stock x
}

helps()
{
	local option

	tree
	for option in -V --version; do
		prints "$tool" $option <<<"mlx5ep $(cat VERSION)"
	done
	for option in -h --help; do
		code 0 "$tool" $option >/dev/null
		[ ! -s "$tmp/err" ]
		grep -q '^Usage: mlx5ep \[-j\] \[-d DEVICE\] COMMAND' "$tmp/out"
		grep -q '^  doctor   find problems' "$tmp/out"
		grep -q '^  -V, --version ' "$tmp/out"
		grep -q '^Exit status: 0 done; 1 failed' "$tmp/out"
	done
	code 2 "$tool" >/dev/null
	[ ! -s "$tmp/out" ]
	code 2 "$tool" nonsense
	grep -qx 'mlx5ep: nonsense: no such command; see mlx5ep --help' "$tmp/err"
	# A hint is given once, and of the option that stands there.
	code 2 "$tool" show -d x -j --nonsense
	[ "$(grep -c 'see mlx5ep show --help' "$tmp/err")" = 1 ]
	code 2 "$tool" show contexts x
	grep -qx 'mlx5ep show: x: unexpected; see mlx5ep show --help' "$tmp/err"
	code 2 "$tool" selftest mlx5_0 mlx5_1
	grep -qx 'mlx5ep selftest: mlx5_1: unexpected; see mlx5ep selftest --help' "$tmp/err"
	code 2 "$tool" selftest -s 3601
	grep -q 'selftest: --seconds 3601: a number from 1 to 3600;' "$tmp/err"
}

# says_why TEXT OPTION...: set refuses it, and writes nothing
says_why()
{
	code 2 "$tool" set "${@:2}"
	grep -qF -- "mlx5ep set: $1" "$tmp/err"
	[ "$(cat "$ep/uuar_pages")" = 2 ]
}

users()
{
	local aux=$root/sys/bus/auxiliary/drivers/mlx5_ib.rdma

	tree
	# Neither a process, nor one whose files are of other devices
	mkdir -p "$root"/proc/{5,6,77,x8,12345678901}/fd "$aux"
	ln -s /dev/infiniband/uverbs1 "$root/proc/5/fd/3"
	ln -s /dev/infiniband/uverbs0 "$root/proc/6/fd/3"
	ln -s /dev/infiniband/uverbs0 "$root/proc/6/fd/4"
	ln -s /dev/infiniband/uverbs0 "$root/proc/x8/fd/4"
	ln -s "$(printf '%0700d' 0)" "$root/proc/77/fd/1"
	ln -s /dev/infiniband/uverbs0 "$root/proc/12345678901/fd/4"
	echo six >"$root/proc/6/comm"
	code 0 "$tool" -j attach --users mlx5_1
	jq -e '.device == "mlx5_1" and .attached == false and
		.users == [{pid: 6, comm: "six", holds: ["uverbs0"]}]' "$tmp/out"
	code 0 "$tool" attach -u mlx5_1
	[ "$(head -n 2 "$tmp/out")" = $'mlx5_1 is used by\n  process 6 (six): uverbs0' ]
	code 2 "$tool" attach
	code 2 "$tool" -d mlx5_1 attach mlx5_1
	code 4 "$tool" attach mlx5_2
	mkdir -p "$root/sys/class/infiniband/mlx5_2/device"
	code 4 "$tool" attach mlx5_2
	rm -r "$root/sys/module/mlx5_ep"
	code 3 "$tool" -d mlx5_1 attach
}

plan 16
check 'show prints each table in whole' shows_whole
check '-j show prints all that there is' is_json
check 'doctor prints each finding, with what mends it' reports_whole
check 'doctor says what keeps libmlx5ep-ucx from its work' looks_at_ucx
check 'plan prints each category in whole' plans_whole
check 'plan takes sizes of a BAR' plans_bars
check 'few descriptors are enough' few_are_enough
check 'nothing depends on the standard input' closed_input
check 'set waits for the lock, and follows no link to it' locks
check 'apply notes in whole to whom it gave the file' notes
check 'set --save changes the line that it is about' saves
check 'what cannot be saved is not set' saves_nothing
check 'watch waits between two times only' watches
check 'set --cgroup: policy, limit, and what is refused' sets_cgroups
check 'users of a device, and who is none' users
check 'help and version, and one hint for what is wrong' helps
ktap_finished
