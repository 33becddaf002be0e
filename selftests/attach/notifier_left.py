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

verbs = ctypes.CDLL("libibverbs.so.1", mode=ctypes.RTLD_GLOBAL)
library = ctypes.CDLL("build/lib/libmlx5ep.so.0")
verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
verbs.ibv_get_device_name.restype = ctypes.c_char_p
verbs.ibv_open_device.restype = ctypes.c_void_p


def device(name):
    devices = verbs.ibv_get_device_list(None)
    for i in range(64):
        found = devices[i]
        if not found:
            break
        if verbs.ibv_get_device_name(ctypes.c_void_p(found)) == name.encode():
            return ctypes.c_void_p(found)
    sys.exit(f"no device {name}")


def main():
    context = ctypes.c_void_p(verbs.ibv_open_device(device(sys.argv[1])))
    notifier = ctypes.c_void_p()
    ret = library.mlx5ep_notifier_create(context, 1, ctypes.byref(notifier))
    if ret:
        sys.exit(f"notifier: {ret}")
    verbs.ibv_close_device(context)
    with open(sys.argv[2], "w", encoding="ascii"):
        pass
    while not os.path.exists(sys.argv[2] + ".end"):
        time.sleep(0.1)


main()
