// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The tables of one device: made at attach, freed at detach. */
#include <linux/slab.h>

#include "compat/compat.h"
#include "xrc.h"

/**
 * mlx5_ep_xrc_device_create() - make the tables of a device
 * @edev: device that is being attached; it outlives the tables
 *
 * Sleeps.
 *
 * Return: the tables; NULL: no memory
 */
struct mlx5_ep_xrc *mlx5_ep_xrc_device_create(struct mlx5_ep_device *edev)
{
	struct mlx5_ep_xrc *xrc = kzalloc_obj(*xrc, GFP_KERNEL);

	if (!xrc)
		return NULL;
	xrc->edev = edev;
	mutex_init(&xrc->lock);
	if (mlx5_ep_xrc_limits_init(xrc))
		goto err_free;
	if (mlx5_ep_xrc_domains_init(xrc))
		goto err_limits;
	if (rhashtable_init(&xrc->by_key, &mlx5_ep_xrc_key_params))
		goto err_domains;
	return xrc;

err_domains:
	mlx5_ep_xrc_domains_fini(xrc);
err_limits:
	mlx5_ep_xrc_limits_fini(xrc);
err_free:
	kfree(xrc);
	return NULL;
}

static bool xrc_device_is_empty(struct mlx5_ep_xrc *xrc)
{
	return list_empty(&xrc->domains) && !xrc->num_qps && !xrc->num_regs &&
	       !atomic_read(&xrc->by_key.nelems) &&
	       !atomic_read(&xrc->by_xrcd.nelems) &&
	       !atomic_read(&xrc->handles.nelems) &&
	       !atomic_read(&xrc->files.nelems) &&
	       !atomic_read(&xrc->holders.nelems);
}

/**
 * mlx5_ep_xrc_device_destroy() - free the tables of a device
 * @xrc: all user contexts of the device are closed, so the tables are empty
 *
 * Sleeps.
 */
void mlx5_ep_xrc_device_destroy(struct mlx5_ep_xrc *xrc)
{
	WARN_ON(!xrc_device_is_empty(xrc));
	rhashtable_destroy(&xrc->by_key);
	mlx5_ep_xrc_domains_fini(xrc);
	mlx5_ep_xrc_limits_fini(xrc);
	mutex_destroy(&xrc->lock);
	kfree(xrc);
}
