#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Allocates UAR objects until one is refused, and prints how many pages that were.

devx_uars.py DEVICE MOST

Prints the number of pages, the name of the error ("none" if MOST was reached), and how many
pages of stock contexts the module counts then.
"""
import ctypes
import errno
import sys

import device

mlx5 = ctypes.CDLL("libmlx5.so.1", use_errno=True)


class OpenAttr(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint32), ("comp_mask", ctypes.c_uint64)]


class Uar(ctypes.Structure):
    _fields_ = [
        ("reg_addr", ctypes.c_void_p),
        ("base_addr", ctypes.c_void_p),
        ("page_id", ctypes.c_uint32),
    ]


mlx5.mlx5dv_open_device.restype = ctypes.c_void_p
mlx5.mlx5dv_devx_alloc_uar.restype = ctypes.POINTER(Uar)
DEVX = 1


def observed(name):
    path = f"/sys/class/infiniband/{name}/mlx5_ep/uar_observed"
    with open(path, encoding="ascii") as file:
        return int(file.read())


def main():
    name, most = sys.argv[1], int(sys.argv[2])
    attr = OpenAttr(DEVX, 0)
    context = mlx5.mlx5dv_open_device(device.find(name), ctypes.byref(attr))
    if not context:
        sys.exit("no context")
    pages, error = set(), "none"
    while len(pages) < most:
        uar = mlx5.mlx5dv_devx_alloc_uar(ctypes.c_void_p(context), 0)
        if not uar:
            error = errno.errorcode[ctypes.get_errno()]
            break
        pages.add(uar.contents.page_id)
    print(len(pages), error, observed(name))


main()
