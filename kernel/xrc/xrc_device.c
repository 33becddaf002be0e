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
	INIT_LIST_HEAD(&xrc->domains);
	if (rhashtable_init(&xrc->by_xrcd, &mlx5_ep_xrc_domain_params))
		goto err_free;
	if (rhashtable_init(&xrc->by_key, &mlx5_ep_xrc_key_params))
		goto err_domains;
	return xrc;

err_domains:
	rhashtable_destroy(&xrc->by_xrcd);
err_free:
	kfree(xrc);
	return NULL;
}

/**
 * mlx5_ep_xrc_device_destroy() - free the tables of a device
 * @xrc: all user contexts of the device are closed, so the tables are empty
 *
 * Sleeps.
 */
void mlx5_ep_xrc_device_destroy(struct mlx5_ep_xrc *xrc)
{
	WARN_ON(!list_empty(&xrc->domains) || xrc->num_qps || xrc->num_regs ||
		atomic_read(&xrc->by_key.nelems) ||
		atomic_read(&xrc->by_xrcd.nelems));
	rhashtable_destroy(&xrc->by_key);
	rhashtable_destroy(&xrc->by_xrcd);
	mutex_destroy(&xrc->lock);
	kfree(xrc);
}
