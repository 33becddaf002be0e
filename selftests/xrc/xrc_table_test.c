// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 60 */
/*
 * The table in debugfs, line by line, of two domains of one context; and what is left
 * when such a context ends with registrations.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "baseline.h"
#include "simhca.h"
#include "sysfs.h"
#include "xrc.h"

#define DOMAIN_FILE "/tmp/xrc_table_domain"
#define LINES 8

FIXTURE(table)
{
	struct baseline base;
	struct ibv_context *ctx;
	struct mlx5ep_xrcd *named, *nameless;
	struct mlx5ep_notifier *n;
	struct mlx5ep_xrc_rcv_qp *keyed, *keyless;	/* one in each */
	struct stat file;
	char lines[LINES][256];
};

typedef FIXTURE_DATA(table) table_data;

FIXTURE_SETUP(table)
{
	struct mlx5ep_xrc_events events = {};
	int fd;

	ASSERT_EQ(0, baseline_take(&self->base));
	self->ctx = xrc_context(NULL);
	ASSERT_NE(NULL, self->ctx);
	fd = open(DOMAIN_FILE, O_RDONLY | O_CREAT, 0600);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, fstat(fd, &self->file));
	ASSERT_EQ(0, mlx5ep_xrcd_open(self->ctx, fd, O_CREAT, &self->named));
	close(fd);
	ASSERT_EQ(0, mlx5ep_xrcd_open(self->ctx, -1, O_CREAT, &self->nameless));
	ASSERT_EQ(0, mlx5ep_notifier_create(self->ctx, 1, &self->n));
	events.notifier_fd = mlx5ep_notifier_fd(self->n);
	ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->named, "k\xff", 2, 0, &events,
					   &self->keyed));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_create(self->nameless, NULL,
					      &self->keyless));
}

FIXTURE_TEARDOWN(table)
{
	EXPECT_EQ(0, mlx5ep_notifier_destroy(self->n));
	/* The kernel ends the registrations that are left. */
	EXPECT_EQ(0, ibv_close_device(self->ctx));
	EXPECT_EQ(0, simhca_count("qp") - baseline_alive(&self->base, "qp"));
	EXPECT_EQ(0, simhca_count("xrcd") - baseline_alive(&self->base, "xrcd"));
	EXPECT_EQ(0, sysfs_number("xrc_domains"));
	EXPECT_EQ(0, sysfs_number("xrc_registrations"));
	unlink(DOMAIN_FILE);
	EXPECT_EQ(0, baseline_restored(&self->base, 5));
}

/* Reads the table. Return: how many lines it has; 0 also where it fails. */
static int read_table(table_data *self)
{
	FILE *table = debugfs_open("xrc");
	int n = 0;

	if (!table)
		return 0;
	rewind(table);
	while (n < LINES && fgets(self->lines[n], sizeof(self->lines[n]), table))
		n++;
	fclose(table);
	return n;
}

/* The id in the line of a domain; 0: it is of none. */
static unsigned int id_of(const char *line)
{
	unsigned int id;

	if (sscanf(line, "domain id=%u ", &id) != 1)
		return 0;
	return id;
}

/* The three lines of a domain that has one QP with one registration. */
static void expect_domain(struct __test_metadata *_metadata,
			  const char (*lines)[256], unsigned int id,
			  const char *inode, const char *qp, const char *events)
{
	char want[256], name[16];

	prctl(PR_GET_NAME, name);
	snprintf(want, sizeof(want), "domain id=%u qps=1 inode=%s\n",
		 id, inode);
	EXPECT_STREQ(want, lines[0]);
	snprintf(want, sizeof(want), qp, id);
	EXPECT_STREQ(want, lines[1]);
	snprintf(want, sizeof(want),
		 "registration qp=%.8s pid=%d comm=%s events=%s\n",
		 qp + strlen("qp num="), getpid(), name, events);
	EXPECT_STREQ(want, lines[2]);
}

TEST_F(table, has_each_domain_with_its_own)
{
	char inode[64], keyed[128], keyless[128];
	unsigned int first, second;

	ASSERT_EQ(6, read_table(self));
	first = id_of(self->lines[0]);
	second = id_of(self->lines[3]);
	EXPECT_NE(0, first);
	EXPECT_EQ(first + 1, second);
	snprintf(inode, sizeof(inode), "%u:%u:%lu", major(self->file.st_dev),
		 minor(self->file.st_dev), self->file.st_ino);
	snprintf(keyed, sizeof(keyed),
		 "qp num=0x%06x domain=%%u state=RESET registrants=1 key=6bff\n",
		 mlx5ep_xrc_rcv_qp_num(self->keyed));
	snprintf(keyless, sizeof(keyless),
		 "qp num=0x%06x domain=%%u state=RESET registrants=1 key=-\n",
		 mlx5ep_xrc_rcv_qp_num(self->keyless));
	expect_domain(_metadata, &self->lines[0], first, inode, keyed,
		      "notifier");
	expect_domain(_metadata, &self->lines[3], second, "-", keyless, "none");
}

TEST_F(table, has_a_domain_no_more_whose_last_registration_ended)
{
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->keyed));
	EXPECT_EQ(0, mlx5ep_xrcd_close(self->named));
	ASSERT_EQ(3, read_table(self));
	EXPECT_NE(NULL, strstr(self->lines[0], " inode=-\n"));
	EXPECT_EQ(-EBUSY, mlx5ep_xrcd_close(self->nameless));
}

TEST_HARNESS_MAIN
