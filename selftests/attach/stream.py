#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Sends data over one TCP connection that never stops, and compares what comes back.

stream.py ADDRESS PORT FILE     of echo.py's server; FILE has the number of lines that came back,
                                and stays as it is once the connection has failed
"""
import os
import socket
import sys

sock = socket.create_connection((sys.argv[1], int(sys.argv[2])))
answers = sock.makefile('rb')
lines = 0
while True:
    line = b'%09d' % lines * 100 + b'\n'
    sock.sendall(line)
    if answers.readline() != line:
        sys.exit('stream: another line came back')
    lines += 1
    with open(sys.argv[3] + '.new', 'w', encoding='ascii') as file:
        file.write(f'{lines}\n')
    os.replace(sys.argv[3] + '.new', sys.argv[3])
