#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Moves data by RDS between two sockets of one address, and compares it.

rds.py ADDRESS MESSAGES ROUNDS

MESSAGES are sent, of sizes that end at, before and behind a fragment. In each of the
ROUNDS the one socket lends memory to the other, which writes there and reads from there.
"""
import ctypes
import errno
import mmap
import os
import socket
import struct
import sys
import threading
import time

SOL_RDS = 276
RDMA_ARGS, RDMA_DEST, RDMA_MAP = 1, 2, 3
WRITE, USE_ONCE = 1, 8
PAGE = 4096
SIZES = (1, 7, 1000, 4095, 4096, 4097, 20000, 65536, 100000)
LENT = (1, 4096, 5000, 65536, 1 << 20)
PATIENCE = 60


def bound(address, port):
    sock = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET, 0)
    sock.bind((address, port))
    sock.settimeout(PATIENCE)
    return sock


def send(sock, message, peer):
    """A socket with a limit of time does not wait until there is room to send."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return sock.sendto(message, peer)
        except OSError as error:
            if error.errno not in (errno.ENOBUFS, errno.EAGAIN) or \
                    time.monotonic() > end:
                raise
            time.sleep(0.01)


def messages(here, there, peer, count):
    """Returns how many of the messages did not arrive, or with wrong bytes."""
    data = [os.urandom(SIZES[i % len(SIZES)]) for i in range(count)]
    right = []

    def receive():
        for want in data:
            right.append(there.recv(1 << 20) == want)

    receiver = threading.Thread(target=receive)
    receiver.start()
    for message in data:
        send(here, message, peer)
    receiver.join()
    return count - sum(right)


class Memory:
    """Pages, and where in them a transfer begins."""

    def __init__(self, length, offset=0):
        self.pages = mmap.mmap(-1, length + offset + PAGE)
        self.part = slice(offset, offset + length)
        self.at = ctypes.addressof(ctypes.c_char.from_buffer(self.pages)) + offset

    def bytes(self):
        return self.pages[self.part]

    def fill(self, data):
        self.pages[self.part] = data


def lent(here, there, ports, length, write):
    """Here lends memory, there writes to it or reads it; returns whether data is right."""
    mine, yours = Memory(length, 8), Memory(length)
    source, sink = (yours, mine) if write else (mine, yours)
    data = os.urandom(length)
    source.fill(data)
    cookie = ctypes.c_uint64()
    flags = WRITE if write else 0
    here.sendmsg([b"lent"], [(SOL_RDS, RDMA_MAP, struct.pack(
        "=QQQQ", mine.at, length, ctypes.addressof(cookie), flags | USE_ONCE))],
        0, ports[1])
    _, notes, _, _ = there.recvmsg(100, 200)
    key = next(note[2] for note in notes if note[:2] == (SOL_RDS, RDMA_DEST))
    vector = (ctypes.c_uint64 * 2)(yours.at, length)
    there.sendmsg([b"done"], [(SOL_RDS, RDMA_ARGS, key[:8] + struct.pack(
        "=QQQQQQ", 0, length, ctypes.addressof(vector), 1, flags, 0))], 0, ports[0])
    here.recv(100)
    # A read may still be on its way when the message behind it has arrived.
    end = time.monotonic() + PATIENCE
    while sink.bytes() != data:
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def main():
    address, count, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    ports = [(address, 4000), (address, 4001)]
    here, there = (bound(*port) for port in ports)
    wrong = messages(here, there, ports[1], count)
    if wrong:
        sys.exit(f"{wrong} of {count} messages are wrong")
    for i in range(rounds):
        length = LENT[i // 2 % len(LENT)]
        if not lent(here, there, ports, length, i % 2):
            sys.exit(f"round {i} of {length} bytes is wrong")


main()
