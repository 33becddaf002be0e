#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Uses a vdpa device of virtio-net as a program (vhost_vdpa).

vdpa_user.py DEVICE MAC ADDRESS PEER

DEVICE is below /dev. Asks by ARP for the MAC address of PEER, both IPv4 addresses, and
prints it. The rings are in one piece of memory and the buffers in another, with a hole
between the two, so that mlx5_vdpa gives its adapter a list of memory keys.
"""
import ctypes
import fcntl
import mmap
import os
import select
import socket
import struct
import sys

PIECE = 64 << 10
RINGS, BUFFERS = 0x100000, 0x200000  # where the device sees them
# Entries of a ring. With another number than its default mlx5_vdpa makes the QPs of events
# again, and posts more receive requests than the new queue has.
SIZE = 256
AVAIL, USED, NEXT = 0x1000, 0x2000, 0x3000
HEADER = 12
BUFFER = 2048
WRITE = 2                            # of a descriptor
VERSION_1, ACCESS_PLATFORM, MAC = 1 << 32, 1 << 33, 1 << 5
MSG_V2 = 1 << 1
PATIENCE = 60


def ioctl(fd, write, nr, form, *values):
    """An ioctl of vhost, by the format of its argument."""
    data = struct.pack(form, *values)
    number = (1 if write else 2) << 30 | len(data) << 16 | 0xaf << 8 | nr
    if not form:
        number = 0xaf << 8 | nr
    return fcntl.ioctl(fd, number, data)


def share(fd, iova):
    """A piece of memory that the device reads and writes."""
    piece = mmap.mmap(-1, PIECE)
    at = ctypes.addressof(ctypes.c_char.from_buffer(piece))
    os.write(fd, struct.pack("=IIQQQBB", 2, 0, iova, PIECE, at, 3, 2)
             .ljust(72, b"\0"))
    return piece


class Queue:
    """A virtqueue with one descriptor in use."""

    def __init__(self, fd, index, rings, buffers):
        self.fd, self.index, self.rings, self.buffers = fd, index, rings, buffers
        self.at = index * NEXT
        self.kick, self.call = os.eventfd(0), os.eventfd(0)
        base = RINGS + self.at
        ioctl(fd, True, 0x10, "=II", index, SIZE)
        ioctl(fd, True, 0x12, "=II", index, 0)
        ioctl(fd, True, 0x11, "=IIQQQQ", index, 0, base, base + USED,
              base + AVAIL, 0)
        ioctl(fd, True, 0x20, "=Ii", index, self.kick)
        ioctl(fd, True, 0x21, "=Ii", index, self.call)
        ioctl(fd, True, 0x75, "=II", index, 1)

    def offer(self, length, flags):
        struct.pack_into("<QIHH", self.rings, self.at,
                         BUFFERS + self.index * BUFFER, length, flags, 0)
        idx = struct.unpack_from("<H", self.rings, self.at + AVAIL + 2)[0]
        struct.pack_into("<H", self.rings, self.at + AVAIL + 4 + idx % SIZE * 2, 0)
        struct.pack_into("<H", self.rings, self.at + AVAIL + 2, idx + 1)
        os.write(self.kick, struct.pack("=Q", 1))

    def wait(self):
        """Waits for an event; the length of the newest used entry."""
        if not select.select([self.call], [], [], PATIENCE)[0]:
            sys.exit(f"queue {self.index}: no event")
        os.read(self.call, 8)
        idx = struct.unpack_from("<H", self.rings, self.at + USED + 2)[0]
        return struct.unpack_from("<I", self.rings, self.at + USED + 8 +
                                  (idx - 1) % SIZE * 8)[0]

    def buffer(self):
        return memoryview(self.buffers)[self.index * BUFFER:][:BUFFER]


def main():
    device, mac, address, peer = sys.argv[1:]
    mac = bytes.fromhex(mac.replace(":", ""))
    address, peer = socket.inet_aton(address), socket.inet_aton(peer)
    fd = os.open(f"/dev/{device}", os.O_RDWR)
    ioctl(fd, True, 0x01, "")
    ioctl(fd, True, 0x25, "=Q", MSG_V2)
    for status in 0, 1, 3:
        ioctl(fd, True, 0x72, "=B", status)
    ioctl(fd, True, 0x00, "=Q", VERSION_1 | ACCESS_PLATFORM | MAC)
    ioctl(fd, True, 0x72, "=B", 0xb)
    rings, buffers = share(fd, RINGS), share(fd, BUFFERS)
    rx, tx = (Queue(fd, i, rings, buffers) for i in range(2))
    ioctl(fd, True, 0x72, "=B", 0xf)

    rx.offer(BUFFER, WRITE)
    frame = (b"\xff" * 6 + mac + b"\x08\x06" +
             struct.pack(">HHBBH", 1, 0x800, 6, 4, 1) +
             mac + address + bytes(6) + peer).ljust(60, b"\0")
    tx.buffer()[:HEADER + 60] = bytes(HEADER) + frame
    tx.offer(HEADER + 60, 0)
    tx.wait()
    while True:
        got = bytes(rx.buffer()[HEADER:rx.wait()])
        if got[:6] == mac and got[12:14] == b"\x08\x06" and \
           got[20:22] == b"\0\2" and got[28:32] == peer:
            print(":".join(f"{byte:02x}" for byte in got[22:28]))
            return
        rx.offer(BUFFER, WRITE)


main()
