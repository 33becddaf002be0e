/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Tracepoints of mlx5_ep: /sys/kernel/tracing/events/mlx5_ep/ */

#undef TRACE_SYSTEM
#define TRACE_SYSTEM mlx5_ep

#if !defined(MLX5_EP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define MLX5_EP_TRACE_H

#include <linux/tracepoint.h>

#include "device.h"
#include "uuar/context.h"
#include "uuar/qp_uuar.h"

/* The list below ends with a comma, hence the last element. */
#define mlx5_ep_policy_symbol(policy, name) { policy, name },

#define show_mlx5_ep_policy(policy)                                            \
	__print_symbolic(policy, MLX5_EP_UUAR_POLICIES(mlx5_ep_policy_symbol)  \
			 { -1, NULL })

#define show_mlx5_ep_placer(placer)                                            \
	__print_symbolic(placer,                                               \
			 { MLX5_EP_PLACER_DRIVER, "driver" },                  \
			 { MLX5_EP_PLACER_POLICY, "policy" },                  \
			 { MLX5_EP_PLACER_LIBRARY, "library" },                \
			 { MLX5_EP_PLACER_DEVX, "devx" },                      \
			 { MLX5_EP_PLACER_NONE, "none" })

DECLARE_EVENT_CLASS(mlx5_ep_context,
	TP_PROTO(const struct mlx5_ep_context *ectx),
	TP_ARGS(ectx),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__array(char, comm, TASK_COMM_LEN)
		__field(int, pid)
		__field(unsigned int, policy)
		__field(unsigned int, source)
		__field(bool, managed)
		__field(unsigned int, pages)
	),
	TP_fast_assign(
		strscpy(__entry->dev, dev_name(&ectx->edev->ibdev->dev),
			IB_DEVICE_NAME_MAX);
		memcpy(__entry->comm, ectx->comm, TASK_COMM_LEN);
		__entry->pid = pid_nr(ectx->tgid);
		__entry->policy = ectx->settings.policy;
		__entry->source = ectx->source;
		__entry->managed = ectx->placing;
		__entry->pages = ectx->table ? ectx->table->nr_pages :
					       ectx->static_pages;
	),
	TP_printk("dev=%s comm=%s pid=%d policy=%s source=%u managed=%d pages=%u",
		  __entry->dev, __entry->comm, __entry->pid,
		  show_mlx5_ep_policy(__entry->policy), __entry->source,
		  __entry->managed, __entry->pages)
);

DEFINE_EVENT(mlx5_ep_context, mlx5_ep_context_open,
	TP_PROTO(const struct mlx5_ep_context *ectx),
	TP_ARGS(ectx)
);

DEFINE_EVENT(mlx5_ep_context, mlx5_ep_context_close,
	TP_PROTO(const struct mlx5_ep_context *ectx),
	TP_ARGS(ectx)
);

TRACE_EVENT(mlx5_ep_policy_refused,
	TP_PROTO(const struct mlx5_ep_context *ectx, int error),
	TP_ARGS(ectx, error),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__array(char, comm, TASK_COMM_LEN)
		__field(int, pid)
		__field(unsigned int, policy)
		__field(int, error)
	),
	TP_fast_assign(
		strscpy(__entry->dev, dev_name(&ectx->edev->ibdev->dev),
			IB_DEVICE_NAME_MAX);
		memcpy(__entry->comm, ectx->comm, TASK_COMM_LEN);
		__entry->pid = pid_nr(ectx->tgid);
		__entry->policy = ectx->settings.policy;
		__entry->error = error;
	),
	TP_printk("dev=%s comm=%s pid=%d policy=%s error=%d", __entry->dev,
		  __entry->comm, __entry->pid,
		  show_mlx5_ep_policy(__entry->policy), __entry->error)
);

TRACE_EVENT(mlx5_ep_limit_reached,
	TP_PROTO(const struct mlx5_ep_device *edev, const char *what,
		 const char *who, unsigned int held, unsigned int refused,
		 unsigned int limit),
	TP_ARGS(edev, what, who, held, refused, limit),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__array(char, what, 24)
		__dynamic_array(char, who, strlen(who) + 1)
		__field(int, pid)
		__field(unsigned int, held)
		__field(unsigned int, refused)
		__field(unsigned int, limit)
	),
	TP_fast_assign(
		strscpy(__entry->dev, mlx5_ep_device_name(edev),
			IB_DEVICE_NAME_MAX);
		strscpy(__entry->what, what, sizeof(__entry->what));
		memcpy(__get_dynamic_array(who), who, strlen(who) + 1);
		__entry->pid = task_tgid_nr(current);
		__entry->held = held;
		__entry->refused = refused;
		__entry->limit = limit;
	),
	TP_printk("dev=%s pid=%d who=\"%s\" what=\"%s\" held=%u refused=%u limit=%u",
		  __entry->dev, __entry->pid,
		  (const char *)__get_dynamic_array(who), __entry->what,
		  __entry->held, __entry->refused, __entry->limit)
);

DECLARE_EVENT_CLASS(mlx5_ep_qp,
	TP_PROTO(const struct mlx5_ep_qp *eqp),
	TP_ARGS(eqp),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(int, pid)
		__field(u32, qpn)
		__field(u32, uar)
		__field(int, uuar)
		__field(unsigned int, placer)
	),
	TP_fast_assign(
		strscpy(__entry->dev, dev_name(&eqp->ectx->edev->ibdev->dev),
			IB_DEVICE_NAME_MAX);
		__entry->pid = pid_nr(eqp->ectx->tgid);
		__entry->qpn = mlx5_ep_qp_uuar_number(eqp);
		__entry->uar = eqp->uar;
		__entry->uuar = eqp->uuar;
		__entry->placer = eqp->placer;
	),
	TP_printk("dev=%s pid=%d qpn=0x%x uar=%d uuar=%d placer=%s",
		  __entry->dev, __entry->pid, __entry->qpn, (int)__entry->uar,
		  __entry->uuar, show_mlx5_ep_placer(__entry->placer))
);

DEFINE_EVENT(mlx5_ep_qp, mlx5_ep_qp_placed,
	TP_PROTO(const struct mlx5_ep_qp *eqp),
	TP_ARGS(eqp)
);

DEFINE_EVENT(mlx5_ep_qp, mlx5_ep_qp_noted,
	TP_PROTO(const struct mlx5_ep_qp *eqp),
	TP_ARGS(eqp)
);

DEFINE_EVENT(mlx5_ep_qp, mlx5_ep_qp_released,
	TP_PROTO(const struct mlx5_ep_qp *eqp),
	TP_ARGS(eqp)
);

#endif

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
