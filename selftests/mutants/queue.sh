# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # the variables of run and of the other parts
#
# The mutants that wait for a guest, and the guests that test them.
#
# A mutant is a folder of the queue: "mutant" is its line, "files" what was built with it,
# "items" its tests. The guest (selftests/mutants/guest) adds "verdict" and "tests.log".

# waiting: prints how many mutants are in the queue
waiting()
{
	find "$queue" -name mutant | wc -l
}

# enough: succeeds when as many mutants are judged as are wanted. It waits for those in the
# queue, because one that gets no verdict is replaced by the next. queue/enough tells the
# guest that it has to give its verdicts before there is another mutant.
enough()
{
	while [ $(($(judged) + $(waiting))) -ge "$number" ]; do
		[ "$(judged)" -lt "$number" ] || return 0
		touch "$queue/enough"
		sleep 1
	done
	rm -f "$queue/enough"
	return 1
}

# enqueue FOLDER MUTANT: the mutant waits for a guest
enqueue()
{
	local file=${2%%$'\t'*}

	mkdir -p "$1"
	keep "$file" "$1"
	echo "$2" >"$1/mutant"
	likely "$file" | tr '\n' ' ' >"$1/items.new"
	mv "$1/items.new" "$1/items"
}

# guest_start: starts a guest that tests the mutants of the queue
guest_start()
{
	local -a options=()
	local key

	for key in "${!guest[@]}"; do
		case $key in
		--smp) options+=("$key" "$((guest[$key] < cpus ? guest[$key] : cpus))") ;;
		--mem) options+=("$key" "$((guest[$key] / 1048576))M") ;;
		*) options+=("$key" "${guest[$key]}") ;;
		esac
	done
	rm -rf "$queue/running" "$tree"/build/lab/run.*
	[ "$kernel" != gcov ] || options+=(--instrument none)
	(cd "$tree" && exec lab/vm --kernel "$kernel" --timeout 86400 \
		"${options[@]}" -- selftests/mutants/guest build/queue) \
		>"$out/guest.log" 2>&1 </dev/null &
	running=$!
	boots=$((boots + 1))
}

# baseline: ends the run if a test that loads the module itself fails without a mutant. Such
# tests take minutes, so what they take is known before they run with one.
baseline()
{
	local -a items

	mapfile -t items < <(unknown "${guest_items[@]}" | grep ':later$')
	[ ${#items[@]} -gt 0 ] || return 0
	echo "${items[*]}" >"$queue/baseline"
	touch "$queue/end"
	guest_start
	wait "$running" || broken "$out/guest.log" \
		"a test fails without a mutant: $(killer "$out/guest.log")"
	running=
	note_durations "$out/guest.log" | sed 's/^/without a mutant: /; s/$/ s/'
	rm "$queue/baseline" "$queue/end"
}

# stalled: succeeds if the guest is silent for longer than the test that runs may take, or
# any test where none has begun. Nobody can end a test that is for ever in the kernel.
stalled()
{
	local silence name

	[ -e "$queue/running" ] || return
	name=$(awk '/^# mutant: / { name = "" }
		/^# start: / { name = $3 }
		END { print name }' "$out/guest.log")
	silence=$(cat "$queue"/[0-9]*/items 2>/dev/null | tr ' ' '\n' | awk -F: -v name="$name" '
		$2 > most { most = $2 }
		$1 == name { limit = $2 }
		END { print 120 + (limit ? limit : most) }')
	[ $(($(date +%s) - $(stat -c %Y "$out/guest.log"))) -gt "$silence" ]
}

# lost: the mutant that the guest had when it was lost is killed by that, if the next guest
# passes the test without it (selftests/mutants/guest), or, where no test had begun, loads and
# unloads the drivers. What the guest had not yet written to the folder has been printed. A
# mutant is unclear when that guest is lost, too.
lost()
{
	local folder name

	folder=$(sed -n 's/^# mutant: //p' "$out/guest.log" | tail -n 1)
	[ -n "$folder" ] && [ -e "$tree/$folder/mutant" ] &&
		[ ! -e "$tree/$folder/verdict" ] && [ ! -e "$tree/$folder/doubt" ] ||
		return 0
	[ ! -e "$tree/$folder/doubted" ] || {
		echo unclear >"$tree/$folder/verdict"
		return 0
	}
	awk '/^# mutant: / { text = "" }
		{ text = text $0 "\n" }
		END { printf "%s", text }' "$out/guest.log" >"$tree/$folder/tests.log"
	name=$(sed -n 's/^# start: \([^ ]*\).*/\1/p' "$tree/$folder/tests.log" | tail -n 1)
	tr ' ' '\n' <"$tree/$folder/items" | grep "^$name:" >"$tree/$folder/doubt" || true
}

# verdict_of FOLDER: notes and prints the verdict
verdict_of()
{
	local mutant verdict by=''

	mutant=$(cat "$1/mutant")
	verdict=$(cat "$1/verdict")
	note_new_durations "$1/tests.log"
	case $verdict in
	survived)
		explained "$mutant" || true
		cp "$1/tests.log" "$out/survivor.$(($(judged) + 1)).log" ;;
	*) by=$(killer "$1/tests.log") ;;
	esac
	note "$verdict" "$by" "$mutant"
	rm "$1/mutant"
	[ "$verdict" = unclear ] || printf '%d of %d: ' "$(judged)" "$number"
	tell "$verdict" "$by" "$mutant"
	rm -rf "$1"
}

# collect: takes the verdicts from the queue
collect()
{
	local folder

	for folder in "$queue"/[0-9]*; do
		[ ! -e "$folder/verdict" ] || verdict_of "$folder"
	done
}

# watch: has guests until the queue is empty and no more comes
watch()
{
	local idle=0 seen=0

	while [ ! -e "$queue/end" ] || [ "$(waiting)" -gt 0 ]; do
		if [ -z "$running" ] && [ "$(waiting)" -gt 0 ]; then
			seen=$(wc -l <"$results")
			guest_start
		elif [ -n "$running" ] && ! kill -0 "$running" 2>/dev/null; then
			# A lower status is of the script in the guest.
			wait "$running" || [ $? -lt 124 ] || lost
			running=
			collect
			[ "$(wc -l <"$results")" = "$seen" ] && idle=$((idle + 1)) ||
				idle=0
			[ "$idle" -lt 4 ] || {
				cat "$out/guest.log" >&2
				echo 'mutants: guests end without a verdict' >&2
				exit 1
			}
		elif [ -n "$running" ] && stalled; then
			kill "$running"
			lost
		fi
		collect
		sleep 1
		[ -e "$queue/end" ] || kill -0 "$making" || exit 1
	done
}
