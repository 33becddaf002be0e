// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The connections and the protection domains of an RDMA device, as `rdma resource show`
 * lists them by cm_id and pd: the kernel tells by netlink which process or which kernel
 * module each belongs to.
 *
 * A module that needs no connection manager of its own (SMC-R, SRP with IB CM) is known by
 * a protection domain that something uses. QPs are not asked for: stock nldev (6.1 to 7.3)
 * reads the domain of each QP of a process, and an XRC target QP has none.
 *
 * By libnl-3, which libibverbs itself needs: no node has to install anything more.
 */
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>

#include "nldev.h"

struct query {
	const char *device;
	uint32_t index;
	bool found;
	int entries;		/* the attribute that has all entries */
	void (*each)(const struct resource *resource, void *arg);
	void *arg;
};

static int dump(struct nl_sock *sock, int command, struct query *query,
		nl_recvmsg_msg_cb_t each)
{
	struct nl_msg *msg;
	int ret;

	msg = nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command),
				 NLM_F_DUMP);
	if (!msg)
		return -NLE_NOMEM;
	ret = query->found ? nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX,
					 query->index) : 0;
	if (!ret)
		ret = nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, each,
					  query);
	if (ret >= 0)
		ret = nl_send_auto(sock, msg);
	nlmsg_free(msg);
	return ret < 0 ? ret : nl_recvmsgs_default(sock);
}

static int each_device(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX] = {};
	struct query *query = arg;

	if (nlmsg_parse(nlmsg_hdr(msg), 0, tb, RDMA_NLDEV_ATTR_MAX - 1, NULL) ||
	    !tb[RDMA_NLDEV_ATTR_DEV_NAME] || !tb[RDMA_NLDEV_ATTR_DEV_INDEX] ||
	    strcmp(nla_get_string(tb[RDMA_NLDEV_ATTR_DEV_NAME]), query->device))
		return NL_OK;
	query->index = nla_get_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
	query->found = true;
	return NL_OK;
}

static bool is_any(struct nlattr *address)
{
	const struct sockaddr_in6 *in6 = nla_data(address);
	const struct sockaddr_in *in = nla_data(address);

	return in->sin_family == AF_INET ?
		in->sin_addr.s_addr == htonl(INADDR_ANY) :
		in->sin_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr);
}

static void each_entry(struct query *query, struct nlattr *entry)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX] = {}, *from;
	struct resource resource = {
		.is_pd = query->entries == RDMA_NLDEV_ATTR_RES_PD,
	};

	if (nla_parse_nested(tb, RDMA_NLDEV_ATTR_MAX - 1, entry, NULL))
		return;
	if (tb[RDMA_NLDEV_ATTR_RES_KERN_NAME])
		resource.module = nla_get_string(tb[RDMA_NLDEV_ATTR_RES_KERN_NAME]);
	else if (tb[RDMA_NLDEV_ATTR_RES_PID])
		resource.pid = nla_get_u32(tb[RDMA_NLDEV_ATTR_RES_PID]);
	else
		return;
	if (tb[RDMA_NLDEV_ATTR_RES_USECNT])
		resource.used = nla_get_u64(tb[RDMA_NLDEV_ATTR_RES_USECNT]);
	from = tb[RDMA_NLDEV_ATTR_RES_SRC_ADDR];
	resource.hears_all = from && is_any(from);
	query->each(&resource, query->arg);
}

static int each_message(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX] = {}, *entry;
	struct query *query = arg;
	int rest;

	if (nlmsg_parse(nlmsg_hdr(msg), 0, tb, RDMA_NLDEV_ATTR_MAX - 1, NULL) ||
	    !tb[query->entries])
		return NL_OK;
	nla_for_each_nested(entry, tb[query->entries], rest)
		each_entry(query, entry);
	return NL_OK;
}

static int dump_all(struct nl_sock *sock, struct query *query)
{
	int ret;

	ret = dump(sock, RDMA_NLDEV_CMD_GET, query, each_device);
	if (!ret && !query->found)
		ret = -NLE_NODEV;
	if (ret)
		return ret;
	query->entries = RDMA_NLDEV_ATTR_RES_CM_ID;
	ret = dump(sock, RDMA_NLDEV_CMD_RES_CM_ID_GET, query, each_message);
	if (ret)
		return ret;
	query->entries = RDMA_NLDEV_ATTR_RES_PD;
	return dump(sock, RDMA_NLDEV_CMD_RES_PD_GET, query, each_message);
}

/**
 * nldev_resources() - ask for a device's connections and protection domains
 * @each: is called for each of them
 *
 * Return: NULL, or why the kernel did not tell.
 */
const char *nldev_resources(const char *device,
			    void (*each)(const struct resource *resource,
					 void *arg), void *arg)
{
	struct query query = { .device = device, .each = each, .arg = arg };
	struct nl_sock *sock = nl_socket_alloc();
	int ret;

	if (!sock)
		return nl_geterror(-NLE_NOMEM);
	nl_socket_disable_auto_ack(sock);
	ret = nl_connect(sock, NETLINK_RDMA);
	if (!ret)
		ret = dump_all(sock, &query);
	nl_socket_free(sock);
	return ret < 0 ? nl_geterror(ret) : NULL;
}
