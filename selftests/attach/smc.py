#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Sends data over one SMC-R connection and back, and compares it.

smc.py serve ADDRESS            answers one connection, until that ends
smc.py ask ADDRESS              sends data 20 times
smc.py ask ADDRESS FOLDER       sends data again and again until FOLDER/end is there; makes
                                FOLDER/first after the first answer, and FOLDER/all last

Both ends are given the same EID first: with RoCE v2, SMC-R joins nodes by it alone.
"""
import os
import pathlib
import socket
import struct
import sys
import time

IPPROTO_SMC = 256  # since 6.11
NETLINK_GENERIC = 16
EID = b'MLX5EP-TEST'.ljust(32)
GENL_CONTROLLER, GETFAMILY, FAMILY_ID, FAMILY_NAME = 16, 3, 1, 2
ADD_UEID, EID_ENTRY = 10, 1
PORT = 4791
BYTES = 100000


def attribute(kind, value):
    size = 4 + len(value)
    return struct.pack('=HH', size, kind) + value + bytes(-size % 4)


def call(sock, family, command, payload):
    body = struct.pack('=BBH', command, 1, 0) + payload
    sock.send(struct.pack('=IHHII', 16 + len(body), family, 5, 1, 0) + body)
    answer = sock.recv(65536)
    if struct.unpack_from('=H', answer, 4)[0] == 2:
        status = struct.unpack_from('=i', answer, 16)[0]
        if status:
            raise OSError(-status, os.strerror(-status))
    return answer[20:]


def add_eid():
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
    found = call(sock, GENL_CONTROLLER, GETFAMILY,
                 attribute(FAMILY_NAME, b'SMC_GEN_NETLINK\0'))
    at = 0
    while at < len(found):
        size, kind = struct.unpack_from('=HH', found, at)
        if kind == FAMILY_ID:
            family = struct.unpack_from('=H', found, at + 4)[0]
        at += size + -size % 4
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
    try:
        call(sock, family, ADD_UEID, attribute(EID_ENTRY, EID + b'\0'))
    except FileExistsError:
        pass


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


add_eid()
if sys.argv[1] == 'serve':
    serve(sys.argv[2])
elif len(sys.argv) == 3:
    ask(sys.argv[2])
else:
    ask_until(sys.argv[2], pathlib.Path(sys.argv[3]))
