# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Messages of mpi4py between two processes, of which each byte is compared: short and
long ones, objects, and a sum."""
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, other = comm.rank, 1 - comm.rank


def pattern(sender, length):
    return bytes((i * 7 + sender * 13 + length) % 251 for i in range(length))


for length in 1, 1000, 65536, 1 << 20:
    got = bytearray(length)
    comm.Sendrecv(pattern(rank, length), other, recvbuf=got, source=other)
    assert got == pattern(other, length), length
assert comm.sendrecv({"rank": rank}, other, source=other) == {"rank": other}
assert comm.allreduce(rank + 1) == 3
comm.Barrier()
if not rank:
    print("mpi4py: right")
