/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the files of the transport share; see transport.h. */
#ifndef SELFTESTS_TRANSPORT_TP_H
#define SELFTESTS_TRANSPORT_TP_H

#include <pthread.h>

#include <infiniband/verbs.h>
#include <mlx5ep.h>

#include "address.h"
#include "meet.h"
#include "transport.h"

#define TP_SPARE 2u		/* receives for messages that only return credits */
#define TP_INLINE 64u
#define TP_LONGEST (1u << 30)		/* bytes of a message, a put or a get */
#define TP_SECONDS 30		/* for a round of a meeting */

enum tp_kind {
	TP_MSG_EAGER,
	TP_MSG_OFFER,	/* a long message: where it is, how long */
	TP_MSG_ANSWER,	/* where to write it */
	TP_MSG_DONE,	/* it was read */
	TP_MSG_POST,	/* for the handler */
	TP_MSG_CREDIT,
};

/**
 * struct tp_header - what each message begins with
 * @credits: that the receiver of the message gets back
 * @tag: of a message that is received
 * @len: of the bytes that follow, or of the long message
 * @id: of the exchange, in the process that gets the message
 * @peer_id: in the process that sends it
 */
struct tp_header {
	uint16_t kind, from;
	uint32_t credits;
	uint32_t tag;
	uint32_t rkey;
	int32_t id, peer_id;
	uint64_t len;
	uint64_t addr;
};

/* Of which completions an event tells. */
enum tp_armed {
	TP_ARMED_NOT,
	TP_ARMED_RECEIVES,	/* and of errors */
	TP_ARMED_ALL,
};

/* A registration that is in use. */
struct tp_reg {
	struct ibv_mr *mr;
	struct mlx5ep_mr_cache_entry *entry;
};

/* A send queue and what it is connected to: a node. */
struct tp_link {
	struct ibv_qp *qp;
	unsigned int busy;		/* requests in the queue */
};

/* What a request calls at its completion. @buf: the buffer of its slot */
typedef void (*tp_done)(struct transport *tp, void *arg, int status,
			const void *buf);

/**
 * struct tp_out - one request for a send queue
 * @op: SEND, RDMA_READ, RDMA_WRITE or RDMA_WRITE_WITH_IMM
 * @head: SEND: the header
 * @body: SEND, or RDMA_WRITE without @local: bytes that are copied to the slot
 * @local: registered memory of an RDMA operation; NULL: the buffer of the slot
 * @len: of @body or @local
 */
struct tp_out {
	struct tp_out *next;
	enum ibv_wr_opcode op;
	struct tp_header head;
	const void *body, *local;
	size_t len;
	uint64_t remote;
	uint32_t lkey, rkey, imm;
	tp_done done;
	void *arg;
};

/* Another process. */
struct tp_peer {
	struct tp_link *link;
	uint32_t srq_num;
	unsigned int credits;		/* messages that it can take */
	unsigned int owed;		/* messages of its that were taken */
	struct tp_out *first, **last;	/* what waits for a credit */
	uint64_t window;
	uint32_t window_key;
};

/* A request in a send queue, with a buffer of its own. */
struct tp_slot {
	struct tp_slot *next;
	struct tp_link *link;
	void *buf;
	tp_done done;
	void *arg;
};

/* A message that came before it was asked for. */
struct tp_early {
	struct tp_early *next;
	struct tp_header head;
	char body[];
};

/* A long message that is moving, or a put or a get. */
struct tp_exchange {
	struct tp_req *req;		/* NULL: free */
	struct transport *tp;
	unsigned int peer;
	struct tp_reg reg;
	int id, peer_id;
	size_t len;
	struct tp_exchange *next;	/* free ones */
};

struct tp_kept {
	struct tp_kept *next;
	struct ibv_mr *mr;
};

struct transport {
	struct tp_attr attr;
	unsigned int processes, node;
	struct meet *meet;
	char domain_path[128];

	/* verbs objects; tp_objects.c */
	struct ibv_context *ctx;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct mlx5ep_endpoints *set;
	struct ibv_pd *pd;
	struct mlx5ep_xrcd *xrcd;
	struct ibv_srq *srq;
	struct mlx5ep_xrc_rcv_qp **rcv_qps;	/* by rank of the sender */
	struct mlx5ep_mr_cache *cache;
	struct ibv_mr *mr;
	char *slab;			/* buffers of receives, then of slots */
	size_t slab_len, buf_len;
	unsigned int receives;
	struct address address;
	unsigned int qps, qps_node;

	struct tp_link *links;		/* by node */
	unsigned int n_links;
	struct tp_peer *peers;		/* by rank */
	struct tp_slot *slots, *free_slots;

	/* messages; tp_message.c, tp_exchange.c */
	struct tp_req *wanted, **wanted_last;
	struct tp_early *early, **early_last;
	struct tp_exchange **exchanges, *free_exchanges;	/* by id */
	unsigned int n_exchanges;
	struct tp_kept *kept;

	void *window;
	size_t window_len;
	struct ibv_mr *window_mr;
	tp_handler handler;
	void *handler_arg;
	void (*progress)(void *arg);
	void *progress_arg;

	pthread_mutex_t lock;		/* recursive; protects all of it */
	pthread_cond_t changed;
	pthread_t helper;
	bool has_helper, stops;
	int wake;			/* an eventfd that a sleeper polls too */
	bool asleep;			/* a thread, on the channel */
	unsigned int idle;		/* looks without a completion */
	uint64_t looked_ms;		/* when processes were looked for */
	enum tp_armed armed;		/* what the CQ was asked to tell */
	unsigned int armed_events;	/* to be acknowledged */
	unsigned int awaited;		/* requests whose end somebody awaits */
	bool starved;			/* something waits for a place to be sent */
	unsigned int first;		/* whose messages are looked at first */
	bool leaving;			/* until all is sent */
	bool meeting;			/* a thread is in tp_share() */
	int failed, dead;		/* first error; rank of the process */
	bool open;			/* connected, and nobody leaves */
	struct tp_info info;
};

static inline void tp_reach(struct transport *tp, enum tp_step step)
{
	if (tp->attr.reached)
		tp->attr.reached(step);
}

/* tp_objects.c */
int tp_objects_open(struct transport *tp);
int tp_objects_close(struct transport *tp);
int tp_receive(struct transport *tp, unsigned int index);

/* tp_wire.c */
int tp_wire_up(struct transport *tp);

/* tp_send.c */
int tp_out(struct transport *tp, unsigned int to, const struct tp_out *out);
void tp_flush(struct transport *tp);
void tp_consumed(struct transport *tp, unsigned int from);
void tp_sent(struct transport *tp, struct tp_slot *slot, int status);
bool tp_idle(const struct transport *tp);
bool tp_awaits_sends(const struct transport *tp);
void tp_send_free(struct transport *tp);

/* tp_reg.c */
int tp_reg_get(struct transport *tp, const void *buf, size_t len,
	       struct tp_reg *reg);
void tp_reg_put(struct transport *tp, struct tp_reg *reg);
void tp_reg_free(struct transport *tp);

/* tp_exchange.c */
struct tp_exchange *tp_exchange_new(struct transport *tp, struct tp_req *req,
				    unsigned int peer);
struct tp_exchange *tp_exchange_of(struct transport *tp, int id);
void tp_exchange_end(struct tp_exchange *x, int status);
void tp_exchange_free(struct transport *tp);

/* tp_long.c */
int tp_long_offer(struct transport *tp, unsigned int to, struct tp_req *req);
void tp_long_accept(struct transport *tp, const struct tp_header *head,
		    struct tp_req *req);
void tp_long_message(struct transport *tp, const struct tp_header *head);
int tp_long_written(struct transport *tp, int id);

/* tp_message.c */
int tp_message(struct transport *tp, const struct tp_header *head,
	       const void *body);
void tp_message_free(struct transport *tp);

/* tp_fail.c */
void tp_fail(struct transport *tp, int error);
void tp_look(struct transport *tp);

/* tp_progress.c */
int tp_poll(struct transport *tp);
int tp_pause_locked(struct transport *tp);
int tp_arm_more(struct transport *tp);
void tp_wake(struct transport *tp);
int tp_helper_start(struct transport *tp);
void tp_helper_stop(struct transport *tp);

#endif
