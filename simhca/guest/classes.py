#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Sends a datagram over RoCE v2 and IPv4 and looks at the header that arrives.

classes.py SOURCE-INDEX TARGET-INDEX PRIORITY

SOURCE-INDEX and TARGET-INDEX name GIDs of mlx5_0 and mlx5_1. The datagram is sent
with a class of traffic, a hop limit and a service level. The first two are to arrive
in the IPv4 header, and the third in the VLAN tag that the completion has. PRIORITY is
0 without a VLAN tag.
"""
import sys
import time

from pyverbs.addr import AHAttr, GlobalRoute, AH
from pyverbs.cq import CQEX, CqInitAttrEx, PollCqAttr
from pyverbs.device import Context
from pyverbs.enums import (IBV_ACCESS_LOCAL_WRITE, IBV_QPT_UD, IBV_SEND_SIGNALED,
                           IBV_WC_EX_WITH_CVLAN, IBV_WR_SEND)
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import RecvWR, SendWR, SGE

GRH = 40
IPV4_AT = 20
QKEY = 0x1234
CLASS = 0x68
HOPS = 9
TEXT = b"a datagram with a class"


class End:
    """A UD QP on a device, with a buffer for one datagram."""

    def __init__(self, device):
        self.context = Context(name=device)
        self.pd = PD(self.context)
        self.cq = CQEX(self.context, CqInitAttrEx(
            cqe=4, wc_flags=IBV_WC_EX_WITH_CVLAN))
        self.mr = MR(self.pd, 256, IBV_ACCESS_LOCAL_WRITE)
        init = QPInitAttr(qp_type=IBV_QPT_UD, scq=self.cq, rcq=self.cq,
                          cap=QPCap(max_send_wr=4, max_recv_wr=4))
        attr = QPAttr(port_num=1)
        attr.qkey = QKEY
        self.qp = QP(self.pd, init, attr)

    def wait(self):
        """Waits for a completion, and returns the VLAN tag that it has."""
        end = time.monotonic() + 30
        while self.cq.start_poll(PollCqAttr()):
            if time.monotonic() > end:
                raise TimeoutError("no completion")
        assert self.cq.status == 0, self.cq.status
        tag = self.cq.read_cvlan()
        self.cq.end_poll()
        return tag


def main():
    source, target, priority = (int(word) for word in sys.argv[1:])
    a, b = End("mlx5_0"), End("mlx5_1")
    b.qp.post_recv(RecvWR(sg=[SGE(b.mr.buf, 256, b.mr.lkey)], num_sge=1))
    route = GlobalRoute(dgid=b.context.query_gid(1, target), sgid_index=source,
                        hop_limit=HOPS, traffic_class=CLASS)
    ah = AH(a.pd, attr=AHAttr(gr=route, is_global=1, port_num=1, sl=priority))
    a.mr.write(TEXT, len(TEXT))
    wr = SendWR(opcode=IBV_WR_SEND, num_sge=1, send_flags=IBV_SEND_SIGNALED,
                sg=[SGE(a.mr.buf, len(TEXT), a.mr.lkey)])
    wr.set_wr_ud(ah, b.qp.qp_num, QKEY)
    a.qp.post_send(wr)
    a.wait()
    tag = b.wait()
    got = b.mr.read(GRH + len(TEXT), 0)
    header = got[IPV4_AT:GRH]
    assert got[GRH:] == TEXT, got[GRH:]
    assert header[1] == CLASS, f"class {header[1]:#x}"
    assert header[8] == HOPS, f"{header[8]} hops"
    total = sum(int.from_bytes(header[i:i + 2], "big") for i in range(0, 20, 2))
    assert (total & 0xffff) + (total >> 16) == 0xffff, "the sum of the header"
    assert tag >> 13 == priority, f"priority {tag >> 13}"


main()
