#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Sends data over one SMC-R connection and back, and compares it.

smc.py serve ADDRESS            answers one connection, until that ends
smc.py ask ADDRESS              sends data 20 times
smc.py ask ADDRESS FOLDER       sends data again and again until FOLDER/end is there; makes
                                FOLDER/first after the first answer, and FOLDER/all last
"""
import os
import pathlib
import socket
import sys
import time

IPPROTO_SMC = 256  # since 6.11
PORT = 4791
BYTES = 100000


def all_of(sock, size):
    data = b''
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            return data
        data += more
    return data


def serve(address):
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
    listener.bind((address, PORT))
    listener.listen(1)
    print('listening', flush=True)
    sock = listener.accept()[0]
    while data := all_of(sock, BYTES):
        sock.sendall(data)


def connected(address):
    for _ in range(100):
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
        if not sock.connect_ex((address, PORT)):
            return sock
        time.sleep(0.2)
    sys.exit(f'{address} does not answer')


def exchange(sock):
    data = os.urandom(BYTES)
    sock.sendall(data)
    if all_of(sock, BYTES) != data:
        sys.exit('what came back is not what was sent')


def ask(address):
    with connected(address) as sock:
        for _ in range(20):
            exchange(sock)


def ask_until(address, folder):
    with connected(address) as sock:
        while not (folder / 'end').exists():
            exchange(sock)
            (folder / 'first').touch()
            time.sleep(0.2)
    (folder / 'all').touch()


if sys.argv[1] == 'serve':
    serve(sys.argv[2])
elif len(sys.argv) == 3:
    ask(sys.argv[2])
else:
    ask_until(sys.argv[2], pathlib.Path(sys.argv[3]))
