# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154 # who sources it sets tmp, slowness and address
#
# The kernel's server of NFS over RDMA and a mount of it, both on one port. The server has
# no daemon: what it would answer is written into the caches of the kernel. Who sources this
# sets address.

nfsd=/proc/fs/nfsd
rpc=/proc/net/rpc
forever=2147483647
# insecure_port, async, no_subtree_check, fsid=0
export_flags=$((0x2 | 0x10 | 0x400 | 0x2000))

# The grace period, in which no file can be opened, is the shortest that nfsd takes.
nfs_serves()
{
	mkdir "$tmp/export" "$tmp/mount"
	mount -t tmpfs none "$tmp/export"
	mount -t nfsd none $nfsd
	echo 10 >$nfsd/nfsv4leasetime
	echo 10 >$nfsd/nfsv4gracetime
	echo '-3 +4 +4.1 +4.2' >$nfsd/versions
	echo 'rdma 20049' >$nfsd/portlist
	echo 2 >$nfsd/threads
	echo "nfsd $address $forever client" >$rpc/auth.unix.ip/channel
	echo "client $tmp/export $forever $export_flags 65534 65534 0" \
		>$rpc/nfsd.export/channel
	printf '%s\n' "client 1 \x00000000 $forever $tmp/export" >$rpc/nfsd.fh/channel
}

nfs_mounts()
{
	timeout $((60 * slowness)) mount -i -t nfs4 -o "vers=4.2,proto=rdma,port=20049,\
addr=$address,clientaddr=$address,rsize=1048576,wsize=1048576" $address:/ "$tmp/mount"
}

# nfs_stops: ends the server; nothing is mounted any more
nfs_stops()
{
	echo 0 >$nfsd/threads
	umount $nfsd "$tmp/export"
}

# nfs_ends: ends the mount and the server, and unloads their modules
nfs_ends()
{
	umount "$tmp/mount"
	nfs_stops
	modprobe -r nfsv4 nfsd
	modprobe -r rpcrdma
}
