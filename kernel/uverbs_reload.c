// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ib_uverbs comes and goes while mlx5_ep is there.
 *
 * Where drivers and mlx5_ep are linked to ib_uverbs_support, ib_uverbs can be unloaded and
 * loaded again alone. It cannot go while a process has a file or a mapping of it. When it
 * has gone, no method tree has pointers to us: preexisting devices hold mlx5_ep no more.
 * Elsewhere mlx5_ep is linked to ib_uverbs, which stays.
 */

#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/string.h>
#include <rdma/uverbs_types.h>

#include "device.h"
#include "uverbs_reload.h"

/*
 * The kernel tells this after the module's exit, or after its init has failed. Nobody is
 * in its text then.
 */
static int uverbs_reload_notify(struct notifier_block *block,
				unsigned long state, void *data)
{
	const struct module *module = data;
	unsigned int held;

	if (state != MODULE_STATE_GOING || strcmp(module->name, "ib_uverbs"))
		return NOTIFY_DONE;
	held = mlx5_ep_device_forget_uverbs();
	/* Unregistering waits for this callback, so its text stays. */
	while (held--)
		module_put(THIS_MODULE);
	return NOTIFY_DONE;
}

static struct notifier_block uverbs_reload_block = {
	.notifier_call = uverbs_reload_notify,
};

/**
 * mlx5_ep_uverbs_reload_init() - begin to look at ib_uverbs
 *
 * Called before a device is attached. Sleeps.
 *
 * Return: 0; -errno
 */
int mlx5_ep_uverbs_reload_init(void)
{
	return register_module_notifier(&uverbs_reload_block);
}

/**
 * mlx5_ep_uverbs_reload_fini() - undo mlx5_ep_uverbs_reload_init()
 *
 * No device is attached any more. Sleeps.
 */
void mlx5_ep_uverbs_reload_fini(void)
{
	unregister_module_notifier(&uverbs_reload_block);
}

/* What /sys/module/ib_uverbs is, to be put; NULL where there is none. */
static struct kobject *uverbs_reload_find(void)
{
	if (IS_BUILTIN(CONFIG_MLX5_EP))
		return NULL;
	return kset_find_obj(THIS_MODULE->mkobj.kobj.kset, "ib_uverbs");
}

/* Whose module is it? NULL: it is built in. Until the kobject is put, the module stays. */
static struct module *uverbs_reload_module(struct kobject *kobj)
{
	return container_of(kobj, struct module_kobject, kobj)->mod;
}

/* Is ib_uverbs a module to which nothing that drivers need belongs? */
static bool uverbs_reload_is_alone(struct kobject *kobj)
{
	struct module *module = uverbs_reload_module(kobj);

	return module &&
	       !within_module((unsigned long)&uverbs_idr_class, module);
}

/**
 * mlx5_ep_uverbs_reload_awaits() - when is a preexisting device attached wholly?
 *
 * May sleep.
 *
 * Return: words for people, behind "when"
 */
const char *mlx5_ep_uverbs_reload_awaits(void)
{
	const char *awaits = "the device registers again";
	struct kobject *kobj;

	if (!IS_MODULE(CONFIG_INFINIBAND_USER_ACCESS) ||
	    IS_BUILTIN(CONFIG_MLX5_EP))
		return awaits;
	kobj = uverbs_reload_find();
	if (!kobj)
		return "ib_uverbs is loaded";
	if (uverbs_reload_is_alone(kobj))
		awaits = "ib_uverbs is loaded again, or the device registers again";
	kobject_put(kobj);
	return awaits;
}

/**
 * mlx5_ep_uverbs_reload_hold() - keep ib_uverbs, as long as a file needs it
 *
 * Called while ib_uverbs cannot go. May sleep.
 *
 * Return: ib_uverbs, to be put by module_put(); NULL: mlx5_ep itself holds it, or it is
 * built in
 */
struct module *mlx5_ep_uverbs_reload_hold(void)
{
	struct kobject *kobj = uverbs_reload_find();
	struct module *module = NULL;

	if (!kobj)
		return NULL;
	if (uverbs_reload_is_alone(kobj)) {
		module = uverbs_reload_module(kobj);
		__module_get(module);
	}
	kobject_put(kobj);
	return module;
}
