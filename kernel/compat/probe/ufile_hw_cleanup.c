// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A driver is told before uverbs ends a context, and struct ib_uverbs_file is
 * public, with the list of its objects, as is the id of an object's type: 7.2 has all of
 * it, 6.12 nothing.
 */
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_std_types.h>
#include <rdma/uverbs_types.h>

u32 probe(struct ib_device_ops *ops, struct ib_uverbs_file *ufile);
u32 probe(struct ib_device_ops *ops, struct ib_uverbs_file *ufile)
{
	ops->ufile_hw_cleanup(ufile);
	if (!ufile->ucontext)
		return 0;
	return uobj_get_object_id(list_first_entry(&ufile->uobjects,
						   struct ib_uobject, list));
}
