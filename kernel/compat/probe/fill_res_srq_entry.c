// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Drivers add to what netlink says of an SRQ: 6.12 has it, 6.1 not.
 */
#include <rdma/ib_verbs.h>

int probe(struct ib_device_ops *ops, struct sk_buff *msg, struct ib_srq *srq);
int probe(struct ib_device_ops *ops, struct sk_buff *msg, struct ib_srq *srq)
{
	return ops->fill_res_srq_entry(msg, srq);
}
