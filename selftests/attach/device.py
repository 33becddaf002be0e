# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Finds devices of libibverbs, for programs that call it by ctypes."""
import ctypes
import sys

verbs = ctypes.CDLL("libibverbs.so.1", mode=ctypes.RTLD_GLOBAL)
verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
verbs.ibv_get_device_name.restype = ctypes.c_char_p


def find(name):
    """Returns the struct ibv_device of that name, or ends the program."""
    devices = verbs.ibv_get_device_list(None)
    for i in range(64):
        found = devices[i]
        if not found:
            break
        if verbs.ibv_get_device_name(ctypes.c_void_p(found)) == name.encode():
            return ctypes.c_void_p(found)
    sys.exit(f"no device {name}")
