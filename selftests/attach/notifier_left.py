#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Keeps the file of a notifier whose context is closed.

notifier_left.py DEVICE FILE

FILE is written when the context is closed; the program ends when FILE.end is there.
"""
import ctypes
import os
import sys
import time

import device

library = ctypes.CDLL("build/lib/libmlx5ep.so.0")
device.verbs.ibv_open_device.restype = ctypes.c_void_p


def main():
    context = ctypes.c_void_p(device.verbs.ibv_open_device(device.find(sys.argv[1])))
    notifier = ctypes.c_void_p()
    ret = library.mlx5ep_notifier_create(context, 1, ctypes.byref(notifier))
    if ret:
        sys.exit(f"notifier: {ret}")
    device.verbs.ibv_close_device(context)
    with open(sys.argv[2], "w", encoding="ascii"):
        pass
    while not os.path.exists(sys.argv[2] + ".end"):
        time.sleep(0.1)


main()
