// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Bodies for error sweeps: each creates and destroys one kind of object. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dmabuf/dmabuf.h"
#include "sweep.h"
#include "sweep_bodies.h"
#include "sysfs.h"

#define PAGE 4096u
#define LONG (4u << 20)	/* two fingerprints */
#define WATCHES 32u
#define BATCH 20u
#define QPS 4u

int sweep_objects_open(struct sweep_objects *objects)
{
	int ret;

	memset(objects, 0, sizeof(*objects));
	objects->exporter = -1;
	objects->dmabuf = -1;
	objects->memory =
		mmap(NULL, LONG, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (objects->memory == MAP_FAILED)
		return -errno;
	ret = verbs_open(&objects->setup, NULL, QPS);
	if (!ret && sysfs_attached())
		ret = mlx5ep_notifier_create(objects->setup.ctx, WATCHES,
					     &objects->notifier);
	if (ret)
		sweep_objects_close(objects);
	return ret;
}

int sweep_objects_open_dmabuf(struct sweep_objects *objects)
{
	objects->exporter = dmabuf_exporter();
	if (objects->exporter < 0)
		return objects->exporter;
	objects->dmabuf = dmabuf_create(objects->exporter, PAGE, 0);
	return objects->dmabuf < 0 ? objects->dmabuf : 0;
}

void sweep_objects_close(struct sweep_objects *objects)
{
	close(objects->dmabuf);
	close(objects->exporter);
	mlx5ep_notifier_destroy(objects->notifier);
	verbs_close(&objects->setup);
	munmap(objects->memory, LONG);
	memset(objects, 0, sizeof(*objects));
}

/* The first one that is not 0. */
static int first(int a, int b)
{
	return a ? a : b;
}

static int qp_make(struct verbs_setup *setup, struct ibv_qp **qp)
{
	int ret;

	*qp = verbs_qp_create(setup->pd, setup->cq, IBV_QPT_RC);
	if (!*qp)
		return errno ? -errno : -EIO;
	ret = verbs_qp_connect(*qp, (*qp)->qp_num, &setup->address);
	if (ret) {
		sweep_undo(ibv_destroy_qp(*qp));
		*qp = NULL;
	}
	return ret;
}

int sweep_body_qp(void *arg)
{
	struct sweep_objects *objects = arg;
	struct ibv_qp *qp;
	int ret;

	ret = qp_make(&objects->setup, &qp);
	return ret ? ret : -sweep_undo(ibv_destroy_qp(qp));
}

int sweep_body_qps(void *arg)
{
	struct sweep_objects *objects = arg;
	struct ibv_qp *qps[QPS];
	unsigned int n;
	int ret = 0;

	for (n = 0; n < QPS; n++) {
		ret = qp_make(&objects->setup, &qps[n]);
		if (ret)
			break;
	}
	while (n--)
		ret = first(ret, -sweep_undo(ibv_destroy_qp(qps[n])));
	return ret;
}

/* Closing the context frees what a failed undo leaves behind. */
int sweep_body_context(void *arg)
{
	struct verbs_setup setup;
	struct ibv_qp *qp;
	int ret;

	(void)arg;
	ret = verbs_open(&setup, NULL, 1);
	if (ret)
		return ret;
	ret = qp_make(&setup, &qp);
	if (!ret)
		ret = -sweep_undo(ibv_destroy_qp(qp));
	verbs_close(&setup);
	return ret;
}

int sweep_body_endpoints(void *arg)
{
	struct mlx5ep_endpoints_attr attr = {
		.category = MLX5EP_CATEGORY_DYNAMIC,
	};
	struct sweep_objects *objects = arg;
	struct mlx5ep_endpoints *set;
	int ret;

	ret = mlx5ep_endpoints_open(objects->setup.ctx->device, &attr, 2, &set);
	return ret ? ret : sweep_undo(mlx5ep_endpoints_destroy(set));
}

int sweep_body_notifier(void *arg)
{
	struct sweep_objects *objects = arg;
	struct mlx5ep_notifier *notifier;
	struct mlx5ep_watch watch;
	int ret;

	ret = mlx5ep_notifier_create(objects->setup.ctx, WATCHES, &notifier);
	if (ret)
		return ret;
	ret = mlx5ep_watch_add(notifier, objects->memory, PAGE, 1, &watch);
	if (!ret)
		ret = mlx5ep_watch_add(notifier, objects->memory, PAGE, 2,
				       &watch);
	return first(ret, mlx5ep_notifier_destroy(notifier));
}

int sweep_body_watch(void *arg)
{
	struct sweep_objects *objects = arg;
	struct mlx5ep_watch watch;
	int ret;

	ret = mlx5ep_watch_add(objects->notifier, objects->memory, PAGE, 1,
			       &watch);
	if (ret)
		return ret;
	ret = mlx5ep_watch_record(&watch);
	if (!ret)
		ret = mlx5ep_watch_verify(&watch);
	return first(ret, sweep_undo(mlx5ep_watch_del(&watch)));
}

/*
 * A record that failed has left nobody looking at the watch: the next one does
 * not wait, and it records. EBADE says that it did not.
 */
int sweep_body_long_watch(void *arg)
{
	struct sweep_objects *objects = arg;
	struct mlx5ep_watch watch;
	int ret;

	ret = mlx5ep_watch_add(objects->notifier, objects->memory, LONG, 1,
			       &watch);
	if (ret)
		return ret;
	ret = mlx5ep_watch_record(&watch);
	if (ret && mlx5ep_watch_record(&watch))
		ret = -EBADE;
	if (!ret)
		ret = mlx5ep_watch_verify(&watch);
	return first(ret, sweep_undo(mlx5ep_watch_del(&watch)));
}

int sweep_body_watches(void *arg)
{
	struct sweep_objects *objects = arg;
	struct mlx5_ep_watch_add ranges[BATCH] = { 0 };
	struct mlx5ep_watch watches[BATCH];
	unsigned int i;
	int ret;

	for (i = 0; i < BATCH; i++) {
		ranges[i].addr = (uintptr_t)objects->memory;
		ranges[i].length = PAGE;
		ranges[i].cookie = i;
	}
	ret = mlx5ep_watch_add_batch(objects->notifier, ranges, watches, BATCH);
	return ret ? ret :
		sweep_undo(mlx5ep_watch_del_batch(watches, BATCH));
}

int sweep_body_dmabuf(void *arg)
{
	struct sweep_objects *objects = arg;
	struct mlx5ep_watch watch;
	int ret;

	ret = mlx5ep_watch_dmabuf(objects->notifier, objects->dmabuf, 0, PAGE,
				  1, &watch);
	if (!ret)
		return sweep_undo(mlx5ep_watch_del(&watch));
	return dmabuf_attachments(objects->exporter, objects->dmabuf) ?
		       -EBADE : ret;
}

int sweep_body_reg_mr(void *arg)
{
	struct sweep_objects *objects = arg;
	struct mlx5ep_mr mr;
	int ret;

	ret = mlx5ep_reg_mr(objects->notifier, objects->setup.pd,
			    objects->memory, PAGE, IBV_ACCESS_LOCAL_WRITE, 1,
			    &mr);
	return ret ? ret : sweep_undo(mlx5ep_dereg_mr(&mr));
}
