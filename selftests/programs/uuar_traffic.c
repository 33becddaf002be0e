// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * uuar_traffic - a plain verbs program: QPs in one context, traffic on each
 *
 * It knows nothing of uUARs, policies or mlx5: every QP is connected to itself
 * and does each operation that its type has, large and inline (so with doorbell
 * and with BlueFlame), in each round; every byte is checked. With -x a shell
 * command runs while the QPs still exist. Exit status 0 means that all data was
 * right.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "verbs.h"

struct options {
	const char *device;
	const char *command;
	enum ibv_qp_type type;
	unsigned int qps;
	unsigned int rounds;
	bool quiet, domain;
};

static void usage(FILE *out)
{
	fprintf(out,
		"usage: uuar_traffic [-d DEVICE] [-n QPS] [-t rc|uc|ud] [-r ROUNDS] [-q] [-T] [-x COMMAND]\n"
		"  -n  QPs in the context (16)       -t  their type (rc)\n"
		"  -r  rounds of every operation (4) -q  do not print QP numbers\n"
		"  -T  the QPs are in a thread domain\n"
		"  -x  run COMMAND while the QPs still exist\n");
}

static int parse_type(const char *word, enum ibv_qp_type *type)
{
	if (!strcmp(word, "rc"))
		*type = IBV_QPT_RC;
	else if (!strcmp(word, "uc"))
		*type = IBV_QPT_UC;
	else if (!strcmp(word, "ud"))
		*type = IBV_QPT_UD;
	else
		return -EINVAL;
	return 0;
}

static void uuar_traffic_parse(int argc, char **argv, struct options *opt)
{
	int c;

	while ((c = getopt(argc, argv, "d:n:t:r:x:qTh")) != -1) {
		switch (c) {
		case 'd':
			opt->device = optarg;
			break;
		case 'n':
			opt->qps = strtoul(optarg, NULL, 0);
			break;
		case 'r':
			opt->rounds = strtoul(optarg, NULL, 0);
			break;
		case 'x':
			opt->command = optarg;
			break;
		case 'T':
			opt->domain = true;
			break;
		case 'q':
			opt->quiet = true;
			break;
		case 't':
			if (!parse_type(optarg, &opt->type))
				break;
			/* fall through */
		default:
			usage(c == 'h' ? stdout : stderr);
			exit(c == 'h' ? 0 : 2);
		}
	}
	if (!opt->qps || optind < argc) {
		usage(stderr);
		exit(2);
	}
}

static int uuar_traffic_run(const struct options *opt,
			    struct verbs_setup *setup,
			    struct verbs_endpoint *endpoints)
{
	unsigned int made, i;
	int ret = 0;

	for (made = 0; made < opt->qps; made++) {
		ret = verbs_endpoint_create(setup, &endpoints[made], opt->type);
		if (ret) {
			fprintf(stderr, "QP %u of %u: %s\n", made + 1,
				opt->qps, strerror(-ret));
			goto out_destroy;
		}
		if (!opt->quiet)
			printf("qp 0x%06x\n", endpoints[made].qp->qp_num);
	}
	fflush(stdout);
	ret = verbs_traffic_all(endpoints, made, opt->rounds);
	if (!ret && opt->command) {
		ret = system(opt->command);
		ret = WIFEXITED(ret) ? WEXITSTATUS(ret) : -EINTR;
	}
out_destroy:
	for (i = 0; i < made; i++)
		verbs_endpoint_destroy(&endpoints[i]);
	return ret;
}

/* The same, with the QPs in a thread domain. */
static int run_in_domain(const struct options *opt, struct verbs_setup *setup,
			 struct verbs_endpoint *endpoints)
{
	struct ibv_parent_domain_init_attr attr = { .pd = setup->pd };
	struct ibv_td_init_attr td_attr = {};
	struct ibv_pd *pd;
	int ret;

	attr.td = ibv_alloc_td(setup->ctx, &td_attr);
	if (!attr.td)
		return -errno;
	pd = ibv_alloc_parent_domain(setup->ctx, &attr);
	if (pd) {
		setup->pd = pd;
		ret = uuar_traffic_run(opt, setup, endpoints);
		setup->pd = attr.pd;
		ibv_dealloc_pd(pd);
	} else {
		ret = -errno;
	}
	ibv_dealloc_td(attr.td);
	return ret;
}

int main(int argc, char **argv)
{
	struct options opt = { .type = IBV_QPT_RC, .qps = 16, .rounds = 4 };
	struct verbs_setup setup;
	struct verbs_endpoint *endpoints;
	int ret;

	uuar_traffic_parse(argc, argv, &opt);
	endpoints = calloc(opt.qps, sizeof(*endpoints));
	if (!endpoints)
		return 1;
	ret = verbs_open(&setup, opt.device, opt.qps);
	if (!ret) {
		ret = (opt.domain ? run_in_domain : uuar_traffic_run)(
			&opt, &setup, endpoints);
		verbs_close(&setup);
	}
	free(endpoints);
	return ret ? 1 : 0;
}
