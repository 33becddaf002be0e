// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ucx_checked - does all that UCX moves between two processes arrive?
 *
 * The parent sends, puts, gets and adds; the child answers. Each byte that arrives
 * is compared, on both sides. UCX_TLS and UCX_NET_DEVICES choose the transport.
 *
 * Prints "ucx_checked: OPERATION: N right" for each kind of operation. With
 * "corrupt" as argument the child changes one byte of a message, which the parent
 * has to notice.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ucp/api/ucp.h>

#define MOST	(1ul << 20)
#define TAG	0x7ul
#define DONE	0x8ul
#define ADDS	500

static const size_t lengths[] = { 1, 8, 200, 4096, 9000, 65536, MOST };

#define LENGTHS (sizeof(lengths) / sizeof(*lengths))

static const char *me = "parent";
static int other; /* a socket to the other process */
static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h ep;
static char *out, *in;
static bool corrupt;

/* UCX has threads that its destructors would wait for: they are left out. */
static void ucx_checked_fail(const char *what, const char *why)
{
	fprintf(stderr, "ucx_checked: %s: %s: %s\n", me, what, why);
	fflush(NULL);
	_exit(1);
}

static void ucx_checked_want(bool right, const char *what)
{
	if (!right)
		ucx_checked_fail(what, strerror(errno));
}

static void ok(ucs_status_t status, const char *what)
{
	if (status != UCS_OK)
		ucx_checked_fail(what, ucs_status_string(status));
}

static void finish(ucs_status_ptr_t request, const char *what)
{
	ucs_status_t status = UCS_PTR_STATUS(request);

	if (UCS_PTR_IS_PTR(request)) {
		do {
			ucp_worker_progress(worker);
			status = ucp_request_check_status(request);
		} while (status == UCS_INPROGRESS);
		ucp_request_free(request);
	}
	ok(status, what);
}

/* --- data ------------------------------------------------------------------ */

static unsigned char byte_of(unsigned int stamp, size_t i)
{
	return (stamp * 2654435761u + i * 40503u) >> 8;
}

static void ucx_checked_fill(char *addr, size_t len, unsigned int stamp)
{
	size_t i;

	for (i = 0; i < len; i++)
		addr[i] = byte_of(stamp, i);
}

static void ucx_checked_check(const char *addr, size_t len, unsigned int stamp,
			      const char *what)
{
	char why[64];
	size_t i;

	for (i = 0; i < len; i++) {
		if ((unsigned char)addr[i] != byte_of(stamp, i)) {
			snprintf(why, sizeof(why), "byte %zu of %zu", i, len);
			ucx_checked_fail(what, why);
		}
	}
}

/* --- the connection -------------------------------------------------------- */

static void tell(const void *what, size_t len)
{
	ucx_checked_want(write(other, what, len) == (ssize_t)len, "tell");
}

static void hear(void *what, size_t len)
{
	ucx_checked_want(recv(other, what, len, MSG_WAITALL) == (ssize_t)len, "hear");
}

static void connect_ucx(void)
{
	ucp_params_t params = {
		.field_mask = UCP_PARAM_FIELD_FEATURES,
		.features = UCP_FEATURE_TAG | UCP_FEATURE_STREAM |
			    UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_AM,
	};
	ucp_worker_params_t worker_params = {
		.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
		.thread_mode = UCS_THREAD_MODE_SINGLE,
	};
	ucp_ep_params_t ep_params = {
		.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
	};
	ucp_address_t *address;
	size_t len;
	void *theirs;

	ok(ucp_init(&params, NULL, &context), "ucp_init");
	ok(ucp_worker_create(context, &worker_params, &worker), "worker");
	ok(ucp_worker_get_address(worker, &address, &len), "address");
	tell(&len, sizeof(len));
	tell(address, len);
	ucp_worker_release_address(worker, address);
	hear(&len, sizeof(len));
	theirs = malloc(len);
	ucx_checked_want(theirs, "malloc");
	hear(theirs, len);
	ep_params.address = theirs;
	ok(ucp_ep_create(worker, &ep_params, &ep), "endpoint");
	free(theirs);
}

static void flush(void)
{
	ucp_request_param_t param = {};

	finish(ucp_ep_flush_nbx(ep, &param), "flush");
}

/* The other process may need an answer from UCX here until it is as far. */
static void together(void)
{
	char token = 0;
	ssize_t got;

	tell(&token, 1);
	while ((got = recv(other, &token, 1, MSG_DONTWAIT)) != 1) {
		ucx_checked_want(got < 0 && errno == EAGAIN, "the other process");
		ucp_worker_progress(worker);
	}
}

static void disconnect_ucx(void)
{
	ucp_request_param_t param = {};

	flush();
	together();
	finish(ucp_ep_close_nbx(ep, &param), "close");
	together();
	ucp_worker_destroy(worker);
	ucp_cleanup(context);
}

/* --- messages -------------------------------------------------------------- */

static void tag_send(const void *addr, size_t len, ucp_tag_t tag)
{
	ucp_request_param_t param = {};

	finish(ucp_tag_send_nbx(ep, addr, len, tag, &param), "tag send");
}

static void tag_recv(void *addr, size_t len, ucp_tag_t tag)
{
	ucp_request_param_t param = {};

	finish(ucp_tag_recv_nbx(worker, addr, len, tag, ~0ul, &param),
	       "tag receive");
}

static void stream_send(const void *addr, size_t len)
{
	ucp_request_param_t param = {};

	finish(ucp_stream_send_nbx(ep, addr, len, &param), "stream send");
}

static void stream_recv(void *addr, size_t len)
{
	ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
		.flags = UCP_STREAM_RECV_FLAG_WAITALL,
	};
	size_t got;

	finish(ucp_stream_recv_nbx(ep, addr, len, &got, &param),
	       "stream receive");
}

/* The active message that has arrived: complete, or still to be fetched. */
static struct {
	size_t len;
	void *desc;		/* NULL: in `in' already */
	bool here;
} message;

static ucs_status_t am_arrived(void *arg, const void *header, size_t header_len,
			       void *data, size_t len,
			       const ucp_am_recv_param_t *param)
{
	message.len = len;
	message.here = true;
	if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
		message.desc = data;
		return UCS_INPROGRESS;
	}
	message.desc = NULL;
	memcpy(in, data, len < MOST ? len : MOST);
	return UCS_OK;
}

static void am_listen(void)
{
	ucp_am_handler_param_t param = {
		.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
			      UCP_AM_HANDLER_PARAM_FIELD_CB |
			      UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
		.id = 1,
		.cb = am_arrived,
		.flags = UCP_AM_FLAG_WHOLE_MSG,
	};

	ok(ucp_worker_set_am_recv_handler(worker, &param), "am handler");
}

static void am_send(const void *addr, size_t len)
{
	ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
		.flags = len > 4096 ? UCP_AM_SEND_FLAG_RNDV : 0,
	};

	finish(ucp_am_send_nbx(ep, 1, NULL, 0, addr, len, &param), "am send");
}

static void am_recv(void *addr, size_t len)
{
	ucp_request_param_t param = {};

	while (!message.here)
		ucp_worker_progress(worker);
	message.here = false;
	if (message.len != len)
		ucx_checked_fail("am", "another length");
	if (message.desc)
		finish(ucp_am_recv_data_nbx(worker, message.desc, addr, len,
					    &param), "am receive");
}

static void message_send(int kind, const void *addr, size_t len)
{
	if (kind == 0)
		tag_send(addr, len, TAG);
	else if (kind == 1)
		stream_send(addr, len);
	else
		am_send(addr, len);
}

static void message_recv(int kind, void *addr, size_t len)
{
	if (kind == 0)
		tag_recv(addr, len, TAG);
	else if (kind == 1)
		stream_recv(addr, len);
	else
		am_recv(addr, len);
}

static const char *const kinds[] = { "tag", "stream", "active message" };

/* Each length there and back, with other data each way. */
static void messages(bool child)
{
	unsigned int kind, i;

	for (kind = 0; kind < 3; kind++) {
		for (i = 0; i < LENGTHS; i++) {
			if (!child) {
				ucx_checked_fill(out, lengths[i], i);
				message_send(kind, out, lengths[i]);
			}
			memset(in, 0, lengths[i]);
			message_recv(kind, in, lengths[i]);
			ucx_checked_check(in, lengths[i], child ? i : i + 100,
					  kinds[kind]);
			if (child) {
				ucx_checked_fill(out, lengths[i], i + 100);
				if (corrupt)
					out[lengths[i] / 2] ^= 1;
				message_send(kind, out, lengths[i]);
			}
		}
		if (!child)
			printf("ucx_checked: %s: %zu right\n", kinds[kind],
			       2 * LENGTHS);
	}
}

/* --- memory ---------------------------------------------------------------- */

/* The child's memory, MOST bytes and a counter behind them. */
static void offer(char *memory, ucp_mem_h *memh)
{
	ucp_mem_map_params_t params = {
		.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
			      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
		.address = memory,
		.length = MOST + sizeof(uint64_t),
	};
	uint64_t addr = (uintptr_t)memory;
	size_t len;
	void *key;

	ok(ucp_mem_map(context, &params, memh), "map");
	ok(ucp_rkey_pack(context, *memh, &key, &len), "pack");
	tell(&addr, sizeof(addr));
	tell(&len, sizeof(len));
	tell(key, len);
	ucp_rkey_buffer_release(key);
}

static ucp_rkey_h take(uint64_t *addr)
{
	ucp_rkey_h rkey;
	size_t len;
	void *key;

	hear(addr, sizeof(*addr));
	hear(&len, sizeof(len));
	key = malloc(len);
	ucx_checked_want(key, "malloc");
	hear(key, len);
	ok(ucp_ep_rkey_unpack(ep, key, &rkey), "unpack");
	free(key);
	return rkey;
}

static void memory_child(void)
{
	char *memory = aligned_alloc(4096, MOST + 4096);
	uint64_t *sum = (uint64_t *)(memory + MOST);
	ucp_mem_h memh;
	unsigned int i;
	uint64_t token;

	ucx_checked_want(memory, "memory");
	*sum = 0;
	offer(memory, &memh);
	for (i = 0; i < LENGTHS; i++) {
		tag_recv(&token, sizeof(token), DONE);
		ucx_checked_check(memory, lengths[i], i + 200, "put");
		ucx_checked_fill(memory, lengths[i], i + 300);
		tag_send(&token, sizeof(token), DONE);
	}
	tag_recv(&token, sizeof(token), DONE);
	if (*sum != ADDS * (ADDS - 1) / 2)
		ucx_checked_fail("atomic", "another sum");
	tag_send(&token, sizeof(token), DONE);
	tag_recv(&token, sizeof(token), DONE);
	ok(ucp_mem_unmap(context, memh), "unmap");
	free(memory);
}

static void add_all(uint64_t addr, ucp_rkey_h rkey)
{
	ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE |
				UCP_OP_ATTR_FIELD_REPLY_BUFFER,
		.datatype = ucp_dt_make_contig(sizeof(uint64_t)),
	};
	uint64_t i, before, sum = 0;

	for (i = 0; i < ADDS; i++) {
		param.reply_buffer = &before;
		finish(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &i, 1, addr,
					 rkey, &param), "atomic");
		if (before != sum)
			ucx_checked_fail("atomic", "another value before");
		sum += i;
	}
	flush();
}

static void memory_parent(void)
{
	ucp_request_param_t param = {};
	uint64_t addr, token = 0;
	ucp_rkey_h rkey = take(&addr);
	unsigned int i;

	for (i = 0; i < LENGTHS; i++) {
		ucx_checked_fill(out, lengths[i], i + 200);
		finish(ucp_put_nbx(ep, out, lengths[i], addr, rkey, &param),
		       "put");
		flush();
		tag_send(&token, sizeof(token), DONE);
		tag_recv(&token, sizeof(token), DONE);
		memset(in, 0, lengths[i]);
		finish(ucp_get_nbx(ep, in, lengths[i], addr, rkey, &param),
		       "get");
		ucx_checked_check(in, lengths[i], i + 300, "get");
	}
	printf("ucx_checked: put: %zu right\n", LENGTHS);
	printf("ucx_checked: get: %zu right\n", LENGTHS);
	add_all(addr + MOST, rkey);
	tag_send(&token, sizeof(token), DONE);
	tag_recv(&token, sizeof(token), DONE);
	printf("ucx_checked: atomic: %d right\n", ADDS);
	ucp_rkey_destroy(rkey);
	tag_send(&token, sizeof(token), DONE);
}

/* --- both ------------------------------------------------------------------ */

static void ucx_checked_run(bool child)
{
	out = aligned_alloc(4096, MOST);
	in = aligned_alloc(4096, MOST);
	ucx_checked_want(out && in, "memory");
	connect_ucx();
	am_listen();
	together();
	messages(child);
	if (child)
		memory_child();
	else
		memory_parent();
	disconnect_ucx();
	free(out);
	free(in);
}

/* A child that has failed is not waited for. */
static void child_ended(int signal)
{
	int status;

	if (waitpid(-1, &status, WNOHANG) > 0 && status)
		_exit(1);
}

int main(int argc, char **argv)
{
	int sockets[2];
	pid_t pid;

	corrupt = argc > 1 && !strcmp(argv[1], "corrupt");
	ucx_checked_want(!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), "socketpair");
	signal(SIGCHLD, child_ended);
	pid = fork();
	ucx_checked_want(pid >= 0, "fork");
	if (!pid) {
		me = "child";
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		other = sockets[1];
		close(sockets[0]);
		ucx_checked_run(true);
		return 0;
	}
	other = sockets[0];
	close(sockets[1]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	ucx_checked_run(false);
	/* The child closes after the parent's last message. */
	while (waitpid(pid, NULL, 0) > 0)
		;
	return 0;
}
