// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * What the try of the library for UCX says of a UCX context, with ucx_probe.c compiled into
 * this program. UCX is made up: a cache of one registration, that is searched before it is
 * used, unless an event waits.
 */
#include "kselftest_harness.h"

#include "../../userlib/ucx/ucx_probe.c"

static struct {
	int waits;		/* times that UCX finds an event and does not search */
	bool bypassed;		/* its searches do not come to the library */
	bool keeps;		/* it keeps a registration whatever comes */
	bool other_call;	/* it registers by a call that is not seen */
	bool unwatched, on_demand;
	int failed;		/* the registration that fails, from 1 on; 0: none */

	int maps, unmaps, tells;
	void *kept;		/* the page that is registered */
	bool untold;		/* events were not told to this thread */
} fake;

UCX_THREAD struct ucx_noted ucx_noted;

void ucx_events_forget(void)
{
	fake.untold = true;
}

void ucx_events_tell(void)
{
	fake.tells++;
}

/* The page is marked when it is registered; a new one is not. */
static void tell(const char *page)
{
	fake.untold = false;
	if (fake.kept == page && *page != 2 && !fake.keeps)
		fake.kept = NULL;
}

static void registered(char *page)
{
	fake.kept = page;
	*page = 2;
	if (fake.on_demand)
		ucx_noted.on_demand++;
	else if (fake.unwatched)
		ucx_noted.unwatched++;
	else if (!fake.other_call)
		ucx_noted.watched++;
}

static ucs_status_t map(ucp_context_h context, const ucp_mem_map_params_t *params,
			ucp_mem_h *memh)
{
	char *page = params->address;

	if (++fake.maps == fake.failed)
		return UCS_ERR_NO_MEMORY;
	*memh = (ucp_mem_h)&fake;
	if (fake.waits) {
		fake.waits--;
	} else if (!fake.bypassed) {
		/* As ucs_pgtable_lookup() of the library. A change is an event, too. */
		ucx_noted.lookups += fake.untold || *page != 2;
	}
	if (!fake.bypassed)
		tell(page);
	if (fake.kept != page)
		registered(page);
	return UCS_OK;
}

static ucs_status_t unmap(ucp_context_h context, ucp_mem_h memh)
{
	fake.unmaps += memh == (ucp_mem_h)&fake;
	return UCS_OK;
}

static void print(const ucp_context_h context, FILE *stream)
{
}

void *ucx_real(const char *name, const void *caller)
{
	return !strcmp(name, "ucp_mem_map") ? (void *)map :
	       !strcmp(name, "ucp_mem_unmap") ? (void *)unmap : (void *)print;
}

FIXTURE(probe) {
};

FIXTURE_SETUP(probe)
{
	memset(&fake, 0, sizeof(fake));
}

FIXTURE_TEARDOWN(probe)
{
	EXPECT_EQ(fake.maps - !!fake.failed, fake.unmaps);
	EXPECT_EQ(1, fake.tells);
}

static const char *says(void)
{
	return ucx_probe((ucp_context_h)&fake, NULL);
}

TEST_F(probe, all_is_well)
{
	EXPECT_EQ(NULL, says());
	EXPECT_EQ(3, fake.maps);
}

/* Below Open MPI, whose hooks tell UCX of each munmap(). */
TEST_F(probe, an_event_that_waits_is_no_fault)
{
	fake.waits = 1;
	EXPECT_EQ(NULL, says());
	fake.tells--;
	fake.waits = 3;
	fake.kept = NULL;
	EXPECT_EQ(NULL, says());
}

TEST_F(probe, searches_that_do_not_come)
{
	fake.bypassed = true;
	EXPECT_STREQ("UCX's lookups do not come to libmlx5ep-ucx", says());
	EXPECT_GT(20, fake.maps);
}

TEST_F(probe, a_registration_that_is_kept)
{
	fake.keeps = true;
	EXPECT_STREQ("UCX has kept a registration of memory that was gone", says());
}

TEST_F(probe, registrations_that_are_not_seen)
{
	fake.other_call = true;
	EXPECT_STREQ("UCX registers memory without ibv_reg_mr()", says());
}

TEST_F(probe, registrations_without_a_watch)
{
	fake.unwatched = true;
	EXPECT_STREQ("a registration of UCX has no watch", says());
}

TEST_F(probe, the_adapter_follows_the_memory)
{
	fake.on_demand = true;
	EXPECT_EQ(NULL, says());
	EXPECT_EQ(2, fake.maps);
}

TEST_F(probe, no_registration)
{
	fake.failed = 1;
	EXPECT_STREQ("UCX registers no memory", says());
}

TEST_F(probe, a_registration_that_is_there_fails)
{
	fake.failed = 2;
	EXPECT_STREQ("UCX registers no memory", says());
}

TEST_F(probe, the_last_registration_fails)
{
	fake.failed = 3;
	EXPECT_STREQ("UCX registers no memory", says());
}

TEST_HARNESS_MAIN
