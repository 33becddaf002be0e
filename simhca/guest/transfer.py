#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Moves data over TCP in both directions at once and compares both sides.

transfer.py listen ADDRESS PORT BYTES     waits for one connection
transfer.py connect ADDRESS PORT BYTES    connects, tries again for 60 s

Each side sends BYTES that only it can make, and checks what it receives.
"""
import hashlib
import socket
import sys
import threading
import time

TRY_FOR = 60


def content(name, size):
    """The bytes that the side of this name sends."""
    block = b"".join(hashlib.sha256(f"{name}{i}".encode()).digest()
                     for i in range(257))
    return (block * (size // len(block) + 1))[:size]


def send(sock, data):
    sock.sendall(data)
    sock.shutdown(socket.SHUT_WR)


def receive(sock):
    got = []
    while True:
        piece = sock.recv(1 << 16)
        if not piece:
            return b"".join(got)
        got.append(piece)


def listen(address, port):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, port), family=family) as server:
        return server.accept()[0]


def connect(address, port):
    end = time.monotonic() + TRY_FOR
    while True:
        try:
            return socket.create_connection((address, port))
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def main():
    side, address, port, size = sys.argv[1:]
    other = "connect" if side == "listen" else "listen"
    size = int(size)
    sock = (listen if side == "listen" else connect)(address, int(port))
    sender = threading.Thread(target=send, args=(sock, content(side, size)))
    sender.start()
    got = receive(sock)
    sender.join()
    if got != content(other, size):
        sys.exit(f"{side}: {len(got)} bytes arrived, {size} were sent, or "
                 "they differ")


main()
