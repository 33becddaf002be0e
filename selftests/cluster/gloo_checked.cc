// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * gloo_checked RANK SIZE FOLDER DEVICE - gloo over verbs: processes find each other by
 * files in FOLDER, and sum vectors of several lengths; each element is compared
 *
 * Over verbs gloo has those algorithms only that register their buffers once.
 */
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/ibverbs/device.h>

#define ROUNDS 20

template <typename Ring>
static bool gloo_sums(const std::shared_ptr<gloo::Context> &context, size_t n)
{
	const int rank = context->rank, size = context->size;
	std::vector<int> &values = *new std::vector<int>(n);
	/* gloo ends a process that removes buffers which the adapter has not completed yet. */
	Ring &ring = *new Ring(context, { values.data() }, static_cast<int>(n));

	for (int round = 1; round <= ROUNDS; round++) {
		for (size_t i = 0; i < n; i++)
			values[i] = static_cast<int>(i) * round * (rank + 1);
		ring.run();
		for (size_t i = 0; i < n; i++)
			if (values[i] != static_cast<int>(i) * round * size * (size + 1) / 2) {
				printf("gloo: wrong: element %zu of %zu, round %d\n", i, n, round);
				return false;
			}
	}
	return true;
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	gloo::transport::ibverbs::attr attr;

	attr.name = argv[4];
	attr.port = 1;
	attr.index = 0;
	auto device = gloo::transport::ibverbs::CreateDevice(attr);
	gloo::rendezvous::FileStore store(argv[3]);
	auto context = std::make_shared<gloo::rendezvous::Context>(atoi(argv[1]), atoi(argv[2]));

	context->connectFullMesh(store, device);
	for (size_t n : { 1, 1000, 100000 })
		if (!gloo_sums<gloo::AllreduceRing<int>>(context, n) ||
		    !gloo_sums<gloo::AllreduceRingChunked<int>>(context, n))
			return 1;
	printf("gloo: right\n");
	fflush(stdout);
	std::_Exit(0);
}
