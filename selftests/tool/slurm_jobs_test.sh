#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: tool, smp: 2, mem: 2G, kernels: 6.12, timeout: 200
#
# Debian's Slurm in a guest, one node: munged, slurmctld and slurmd. The Prolog of
# packaging/slurm gives jobs a policy and a limit by their cgroups. The device stays
# stock. simhca says which UAR pages the stock programs of the jobs rang.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

cgroups=/sys/fs/cgroup
node=$(uname -n)
addr=10.9.9.1
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)

# gone PID: that process has ended
gone()
{
	! kill -0 "$1" 2>/dev/null
}

# A daemon that reads its configuration anew goes on as another process, which the
# file with its pid names.
end()
{
	local pid

	for pid in $(cat "$tmp"/slurm*.pid "$tmp/munged.pid" 2>/dev/null); do
		kill "$pid" 2>/dev/null || :
		wait_for 10 gone "$pid" || kill -KILL "$pid"
	done
	rm -rf "$tmp"
}
trap end EXIT

# site LINE...: what an administrator writes: a script of LINEs that calls ours
site()
{
	{
		echo '#!/bin/sh'
		printf '%s\n' "$@"
	} >"$tmp/site.new"
	chmod 755 "$tmp/site.new"
	mv "$tmp/site.new" "$tmp/site"
}

# prolog OPTION...: the same for all jobs
prolog()
{
	site "exec $tmp/slurm-prolog $*"
}

# configure FLAGS: one node, two partitions, cgroup version 2, no systemd
configure()
{
	cat >/etc/slurm/slurm.conf <<-END
	ClusterName=lab
	SlurmctldHost=$node($addr)
	SlurmUser=root
	SlurmdUser=root
	StateSaveLocation=$tmp/state
	SlurmdSpoolDir=$tmp/spool
	SlurmctldPidFile=$tmp/slurmctld.pid
	SlurmdPidFile=$tmp/slurmd.pid
	ProctrackType=proctrack/cgroup
	TaskPlugin=task/cgroup
	MpiDefault=none
	ReturnToService=2
	Prolog=$tmp/site
	Epilog=$tmp/site
	PrologFlags=$1
	NodeName=$node NodeAddr=$addr CPUs=2 RealMemory=500
	PartitionName=batch Nodes=$node Default=YES State=UP
	PartitionName=threads Nodes=$node State=UP
	END
	cat >/etc/slurm/cgroup.conf <<-END
	CgroupPlugin=cgroup/v2
	IgnoreSystemd=yes
	END
}

# daemon NAME [ARGUMENT...]: in the background; its output is in NAME.log
daemon()
{
	"$@" >"$tmp/$1.log" 2>&1 3>&- &
	echo $! >"$tmp/$1.pid"
}

# state: prints the state of the node
state()
{
	sinfo -h -o %T 2>/dev/null | sort -u
}

node_is()
{
	becomes 10 "$1" state
}

cluster()
{
	ip link set lo up
	ip addr add $addr/32 dev lo
	mountpoint -q $cgroups || mount -t cgroup2 none $cgroups
	mkdir -p /etc/slurm /run/munge "$tmp/spool" "$tmp/state"
	chmod 755 "$tmp"
	sed "s|@BINDIR@|$PWD/build/bin|" packaging/slurm/slurm-prolog \
		>"$tmp/slurm-prolog"
	chmod 755 "$tmp/slurm-prolog"
	head -c 64 /dev/urandom >"$tmp/key"
	chmod 600 "$tmp/key"
	prolog --policy independent
	configure Contain
	daemon munged --foreground --force --key-file "$tmp/key" \
		--seed-file "$tmp/seed" --log-file "$tmp/munge"
	wait_for 5 munge -n -o /dev/null
	daemon slurmctld -D
	daemon slurmd -D
	node_is idle
}

# in_job CMD...: runs CMD as a job with one task. Its output is in $tmp/job.
in_job()
{
	srun -n 1 --chdir=/ "$@" >"$tmp/job" 2>"$tmp/job.err" ||
		fail "srun $*: $(cat "$tmp/job" "$tmp/job.err" "$tmp/slurmd.log")"
}

# rings PAGES CMD...: CMD rings that many UAR pages of users
rings()
{
	local pages

	simhca-ctl reset >/dev/null
	"${@:2}"
	pages=$(hca_pages_rung)
	[ "$pages" = "$1" ] || fail "$pages pages, not $1: $(cat "$tmp/job" \
		"$tmp/slurmd.log")"
}

# The first four QPs of a stock context are on two pages.
a_job()
{
	prolog --policy independent --pages 8
	rings 2 uuar_traffic -q -n 4
	rings 4 in_job uuar_traffic -q -n 4
	hca_clean
}

an_ordinary_user()
{
	prolog --policy independent --pages 8
	rings 4 "${nobody[@]}" srun -n 1 --chdir=/ uuar_traffic -q -n 4
}

# A batch script is no step of srun; steps of both kinds are below the job.
a_batch_script()
{
	prolog --policy independent --pages 8
	cat >"$tmp/batch" <<-END
	#!/bin/sh
	uuar_traffic -q -n 4 || exit
	cat /proc/self/cgroup $ep/uuar_cgroups
	END
	rings 4 sbatch --wait -n 1 --chdir=/ -o "$tmp/job" "$tmp/batch"
	cat "$tmp/job"
	grep -E '^0::/.*_slurmstepd.scope/job_[0-9]+/' "$tmp/job"
	grep -E '_slurmstepd.scope/job_[0-9]+ independent 0 8$' "$tmp/job"
}

by_partition()
{
	site "case \$SLURM_JOB_PARTITION in" \
		"threads) exec $tmp/slurm-prolog --policy independent ;;" \
		"*) exec $tmp/slurm-prolog --policy shared-uar ;;" "esac"
	rings 2 in_job uuar_traffic -q -n 4
	rings 4 in_job -p threads uuar_traffic -q -n 4
}

# A program with one QP holds more than one page.
a_limit()
{
	prolog --limit 1
	in_job cat "$ep/uar_cgroup_limits"
	grep -E '/job_[0-9]+ 1$' "$tmp/job"
	! (in_job uuar_traffic -q -n 1) || fail 'no limit'
	grep 'Disk quota exceeded' "$tmp/job" "$tmp/job.err"
	prolog --limit 64
	in_job uuar_traffic -q -n 1
}

# nothing_set: for how many jobs slurmd's log says so
nothing_set()
{
	grep -cE 'job [0-9]+: nothing was set:.*fastest' "$tmp/slurmd.log" || :
}

more_set()
{
	[ "$(nothing_set)" -gt "$1" ]
}

# A value that the tool does not take: the job runs, and slurmd's log says why.
not_required()
{
	local said

	prolog --policy fastest
	in_job true
	said=$(nothing_set)
	prolog --policy fastest --require
	node_is idle
	# srun has ended with 0 here, on a busy machine: whether the program ran is asked.
	timeout $((60 * slowness)) srun -n 1 --chdir=/ touch "$tmp/ran" >"$tmp/job" 2>&1 || :
	cat "$tmp/job"
	[ ! -e "$tmp/ran" ]
	wait_for 10 more_set "$said"
	sinfo -h -o %T
	wait_for 10 sh -c 'sinfo -h -o %T | grep drain'
	scancel --me
	prolog --policy independent
	wait_for 10 prints '' squeue -h
	scontrol update "nodename=$node" state=resume
	node_is idle
}

usage()
{
	local prolog=$tmp/slurm-prolog

	code 0 "$prolog" --help
	code 0 "$prolog" --nonsense
	grep -q 'nonsense: no such option' "$tmp/err"
	code 1 "$prolog" --nonsense --require
	code 1 "$prolog" --require --policy
	code 0 env SLURM_SCRIPT_CONTEXT=epilog_slurmd "$prolog" --require --limit
	code 0 env -u SLURM_JOB_ID "$prolog" --policy stock
	code 1 env SLURM_JOB_ID=../x "$prolog" --policy stock --require
	grep -q 'SLURM_JOB_ID is no number' "$tmp/err"
	code 1 env SLURM_JOB_ID=7 "$prolog" --require
	grep -q 'nothing to set' "$tmp/err"
	mkdir "$tmp/none"
	code 1 env SLURM_JOB_ID=7 MLX5EP_CGROUP_ROOT="$tmp/none" "$prolog" \
		--limit 4 --require
	grep -q 'no slurmstepd.scope' "$tmp/err"
}

# jobs_left: prints the cgroups of jobs, and what is set for any cgroup
jobs_left()
{
	find $cgroups/system.slice -type d -name 'job_*'
	cat "$ep/uuar_cgroups" "$ep/uar_cgroup_limits"
}

nothing_left()
{
	prolog --policy independent --limit 5
	srun -n 1 --chdir=/ sleep 1000 >"$tmp/job" 2>&1 &
	wait_for 10 sh -c "grep -q job_ $ep/uuar_cgroups"
	wait_for 10 prints R squeue -h -o %t
	scancel --me
	wait $! || :
	wait_for 10 prints '' squeue -h
	becomes 10 '' jobs_left
	hca_clean
}

# Between two steps of a job only Slurm's own step holds the cgroup.
steps_in_turn()
{
	local job

	prolog --policy independent --pages 8 --limit 64
	salloc -n 1 --no-shell >"$tmp/job" 2>&1
	job=$(squeue -h -o %i)
	srun --jobid "$job" --chdir=/ true
	sleep 2
	rings 4 srun --jobid "$job" --chdir=/ uuar_traffic -q -n 4
	srun --jobid "$job" --chdir=/ cat "$ep/uar_cgroup_limits" >"$tmp/job"
	grep -E '/job_[0-9]+ 64$' "$tmp/job"
	scancel "$job"
	wait_for 10 prints '' squeue -h
	becomes 10 '' jobs_left
}

# Slurm does not know of a cgroup in which it started nothing: the Epilog does.
no_step()
{
	prolog --policy independent
	salloc -n 1 --no-shell >"$tmp/job" 2>&1
	wait_for 10 sh -c "grep -q job_ $ep/uuar_cgroups"
	scancel --me
	wait_for 10 prints '' squeue -h
	becomes 10 '' jobs_left
}

# The Prolog runs in the job's cgroup, or no step of Slurm's own holds that open.
other_flags()
{
	local flags

	for flags in Alloc Alloc,Contain,RunInJob; do
		configure "$flags"
		scontrol reconfigure
		node_is idle
		scontrol show config | grep -i "PrologFlags.*${flags##*,}"
		prolog --policy independent --pages 8
		rings 4 in_job uuar_traffic -q -n 4
		wait_for 10 prints '' squeue -h
		becomes 10 '' jobs_left
	done
}

ep_policy stock
plan 12
check 'slurmctld and slurmd with the Prolog' cluster
check 'the policy of a job' a_job
check "an ordinary user's job" an_ordinary_user
check 'a batch script and the cgroup of its job' a_batch_script
check 'a policy for each partition' by_partition
check 'the limit of a job' a_limit
check 'what cannot be set, not required and required' not_required
check 'bad usage and no cgroup' usage
check 'a job that is cancelled leaves nothing' nothing_left
check 'a job without a step leaves nothing' no_step
check 'the second step of a job' steps_in_turn
check 'PrologFlags Alloc and RunInJob' other_flags
ktap_finished
