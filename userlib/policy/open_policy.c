// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5ep/policy.so: `mlx5ep run --policy` preloads it into a program, and the
 * contexts that the program opens get the policy that MLX5EP_POLICY names.
 *
 * A context gets its policy when it is opened. A process can ask for the policy of
 * contexts that it opens later, by a context that it has open meanwhile. So an
 * open is three steps here: open a context and ask with it, open the program's
 * context, close the first one.
 *
 * Never:
 * - does an open fail here that succeeds without this library, unless
 *   MLX5EP_POLICY says strict;
 * - does anything stay open, or is anything kept, between two opens: a forked
 *   child and a program after exec() start like any other;
 * - is a device touched that is not one of mlx5;
 * - is rdma-core loaded, or another one than that of the program.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>
#include <mlx5ep/device.h>
#include <mlx5ep/uuar.h>

#define EXPORT __attribute__((visibility("default")))

/* How the program opens a device. */
struct request {
	struct ibv_device *device;
	struct mlx5dv_context_attr *attr;
	bool by_mlx5dv;
};

#define POLICY_NAME(policy, name) [policy] = name,

static const char *const policy_names[] = {
	MLX5_EP_UUAR_POLICIES(POLICY_NAME)
};

#define POLICIES (sizeof(policy_names) / sizeof(*policy_names))

/* A program may try an open again and again: one line tells enough. */
static void complain(const struct request *request, const char *what, int error)
{
	static bool said;

	if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		fprintf(stderr, "mlx5ep run: %s: %s%s%s\n",
			request->device->name, what,
			error ? ": " : "", error ? strerror(error) : "");
}

/* The text is that of a line of uuar_cgroups: "POLICY STRICT PAGES". */
static bool read_policy(struct mlx5_ep_context_policy *policy)
{
	const char *text = getenv("MLX5EP_POLICY");
	unsigned int strict, pages, i;
	char name[16];

	if (!text || sscanf(text, "%15s %u %u", name, &strict, &pages) != 3)
		return false;
	for (i = 0; i < POLICIES && strcmp(name, policy_names[i]); i++)
		;
	*policy = (struct mlx5_ep_context_policy){
		.policy = i,
		.flags = MLX5_EP_POLICY_LATER_OPENS |
			 (strict ? MLX5_EP_POLICY_STRICT : 0),
		.pages = pages,
	};
	return i < POLICIES;
}

/*
 * A function of rdma-core as the program has it. What a plugin has brought is in no scope
 * that is searched by itself, so the library is asked too, if it is loaded.
 */
static void *function(const char *library, const char *name)
{
	void *found = dlsym(RTLD_NEXT, name), *handle;

	if (found)
		return found;
	handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return NULL;
	found = dlsym(handle, name);
	dlclose(handle);
	return found;
}

#define VERBS(name) ((__typeof__(&(name)))function("libibverbs.so.1", #name))
#define MLX5DV(name) ((__typeof__(&(name)))function("libmlx5.so.1", #name))

static bool is_mlx5(struct ibv_device *device)
{
	__typeof__(&mlx5dv_is_supported) is_supported =
		MLX5DV(mlx5dv_is_supported);

	return is_supported && is_supported(device);
}

static struct ibv_context *open_as_is(const struct request *request)
{
	__typeof__(&mlx5dv_open_device) by_mlx5dv;
	__typeof__(&ibv_open_device) by_verbs;

	errno = EOPNOTSUPP;
	if (request->by_mlx5dv) {
		by_mlx5dv = MLX5DV(mlx5dv_open_device);
		return by_mlx5dv ? by_mlx5dv(request->device, request->attr) :
				   NULL;
	}
	by_verbs = VERBS(ibv_open_device);
	return by_verbs ? by_verbs(request->device) : NULL;
}

static void close_context(struct ibv_context *context)
{
	__typeof__(&ibv_close_device) close_device = VERBS(ibv_close_device);

	if (close_device)
		close_device(context);
}

/* Returns a context that asks for the policy of later ones; NULL: see errno. */
static struct ibv_context *
open_wish(struct ibv_device *device,
	  const struct mlx5_ep_context_policy *policy)
{
	const struct request plain = { .device = device };
	struct ibv_context *wish = open_as_is(&plain);
	int ret;

	if (!wish)
		return NULL;
	ret = mlx5ep_context_set_policy(wish, policy);
	if (!ret)
		return wish;
	close_context(wish);
	errno = -ret;
	return NULL;
}

/*
 * The program's context, or NULL with errno. A policy other than stock is not
 * there if the kernel could not manage the context.
 */
static struct ibv_context *
open_wished(const struct request *request,
	    const struct mlx5_ep_context_policy *policy)
{
	struct ibv_context *wish = open_wish(request->device, policy);
	struct mlx5_ep_context_info info;
	struct ibv_context *context;
	int error;

	if (!wish)
		return NULL;
	context = open_as_is(request);
	error = errno;
	close_context(wish);
	if (context && (mlx5ep_context_query(context, &info) ||
			info.policy != policy->policy)) {
		close_context(context);
		context = NULL;
		error = ENOSPC;
	}
	errno = error;
	return context;
}

static struct ibv_context *open_device(const struct request *request)
{
	struct mlx5_ep_context_policy policy;
	struct ibv_context *context = NULL;
	int error;

	if (!is_mlx5(request->device))
		return open_as_is(request);
	if (!read_policy(&policy)) {
		complain(request, "MLX5EP_POLICY is not POLICY STRICT PAGES", 0);
		return open_as_is(request);
	}
	errno = EOPNOTSUPP;
	if (!mlx5ep_device_attached(request->device, NULL, 0))
		context = open_wished(request, &policy);
	if (context)
		return context;
	error = errno;
	if (policy.flags & MLX5_EP_POLICY_STRICT) {
		complain(request, "not opened, as it cannot get the policy",
			 error);
		errno = error;
		return NULL;
	}
	context = open_as_is(request);
	if (context)
		complain(request, "opened without the policy", error);
	return context;
}

/**
 * ibv_open_device() - takes the place of libibverbs' function
 * @device: any device
 *
 * Return: as libibverbs; NULL with errno also if a strict policy cannot be had
 */
EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	const struct request request = { .device = device };

	return open_device(&request);
}

/**
 * mlx5dv_open_device() - takes the place of libmlx5's function
 * @device: a device of mlx5
 * @attr: passed on
 *
 * Return: as libmlx5; NULL with errno also if a strict policy cannot be had
 */
EXPORT struct ibv_context *
mlx5dv_open_device(struct ibv_device *device, struct mlx5dv_context_attr *attr)
{
	const struct request request = { device, attr, true };

	return open_device(&request);
}
