/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_H
#define MLX5EP_H

/**
 * DOC: libmlx5ep
 *
 * There is one header per object. Every call that can fail returns 0 or a
 * negative errno. A call writes its outputs only if it succeeds. A call that
 * needs the kernel module returns -EOPNOTSUPP if the module is not attached to
 * the device. Several threads may use an object at the same time unless its
 * header says otherwise.
 *
 * A forked child has copies of what the library made for its parent, and its
 * descriptors. A call that would change what the parent has returns -EXDEV there, and
 * a call that destroys an object frees the child's copy only. A child of vfork(2) or
 * clone(CLONE_VM) shares the memory of its parent: a call there that would make, change
 * or destroy an object of the library returns -EXDEV. A call that is given nothing but
 * objects of verbs acts on what the parent has, as the calls of verbs do.
 */

#include <mlx5ep/device.h>
#include <mlx5ep/domain.h>
#include <mlx5ep/endpoint_connect.h>
#include <mlx5ep/endpoints.h>
#include <mlx5ep/mr_cache.h>
#include <mlx5ep/mr_watch.h>
#include <mlx5ep/notifier.h>
#include <mlx5ep/uuar.h>
#include <mlx5ep/version.h>
#include <mlx5ep/xrc_rcv_qp.h>
#include <mlx5ep/xrcd.h>

#endif
