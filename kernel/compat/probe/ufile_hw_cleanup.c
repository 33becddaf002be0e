// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A driver is told before uverbs ends a context, and struct ib_uverbs_file is
 * public: 7.2 has both, 6.12 neither.
 */
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_types.h>

struct ib_ucontext *probe(struct ib_device_ops *ops,
			  struct ib_uverbs_file *ufile);
struct ib_ucontext *probe(struct ib_device_ops *ops,
			  struct ib_uverbs_file *ufile)
{
	ops->ufile_hw_cleanup(ufile);
	return ufile->ucontext;
}
