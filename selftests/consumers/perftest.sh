# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034
#
# A server of ucx_perftest, for the tests of UCX with its default settings. Needs lib.sh.

: "${tmp:?lib.sh comes first}" "${dev:?}"

export UCX_NET_DEVICES=$dev:1
# Only transports that do not use the HCA are excluded.
export UCX_TLS=ib
# Debian's ucx_perftest calls MPI_Init() unless its input is a terminal. Without these
# Open MPI opens the HCA too, makes QPs of its own, and takes most of the time.
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self
port=13337

listens()
{
	ss -Hltn "sport = :$1" | grep -q .
}

# serve [CMD...]: starts a server, by CMD where there is one, and waits until it listens;
# sets port and server, its PID. Its output is in $tmp/server.
# shellcheck disable=SC2120
serve()
{
	port=$((port + 1))
	"$@" ucx_perftest -P 0 -p $port >"$tmp/server" 2>&1 &
	server=$!
	wait_for 20 listens $port || {
		kill $server || true
		echo 'the server does not listen' | tee -a "$tmp/server"
		return 1
	}
}
