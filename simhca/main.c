// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * simhca: simulated ConnectX adapters for stock kernels. See
 * simhca/README.md.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "adapter.h"
#include "control/control.h"
#include "fabric/fabric.h"
#include "fabric/line.h"

static const char usage[] =
	"usage: simhca --dir DIR [--hca N] [--link ib|eth]\n"
	"              [--function pf|vf|port] [--eswitch]\n"
	"              [--cable latency=US,rate=MB/s] [--log FILE] [-v]\n"
	"\n"
	"Simulates N adapters (default 1) on one InfiniBand subnet or Ethernet. Makes in DIR\n"
	"  hca0.sock ...  one vfio-user socket per adapter, for QEMU's vfio-user-pci\n"
	"  control.sock   one JSON object per line in, one out\n"
	"prints \"ready\" on stdout, and serves until SIGTERM or SIGINT.\n"
	"\n"
	"  --link eth  the ports are Ethernet ones; default: ib\n"
	"  --function vf  they are virtual functions; default: pf\n"
	"  --function port  each two in turn are the functions of a card with two ports;\n"
	"              N is even\n"
	"  --eswitch   each has an e-switch that a driver can program; with --link eth\n"
	"              and --function pf\n"
	"  --cable latency=US,rate=MB/s  a message needs so many microseconds from port to\n"
	"              port, and a port sends so many megabytes (10^6 bytes) in a second;\n"
	"              default: no time, and as many as there are\n"
	"  --log FILE  append the log to FILE, not to stderr\n"
	"  -v          log every command too\n";

static const char *const links[] = {
	[LINK_IB] = "ib", [LINK_ETH] = "eth", NULL,
};
static const char *const functions[] = {
	[FUNCTION_PF] = "pf", [FUNCTION_VF] = "vf", [FUNCTION_PORT] = "port",
	NULL,
};

struct options {
	const char *dir;
	const char *log;
	unsigned int hcas;
	struct adapter_kind kind;
	bool verbose;
};

/* Which of the words the value of an option is, or -EINVAL. NULL ends the words. */
static int choice(const char *option, const char *const *words)
{
	int i;

	for (i = 0; words[i]; i++)
		if (!strcmp(optarg, words[i]))
			return i;
	fprintf(stderr, "simhca: --%s is %s", option, words[0]);
	for (i = 1; words[i]; i++)
		fprintf(stderr, "%s%s", words[i + 1] ? ", " : " or ", words[i]);
	fputc('\n', stderr);
	return -EINVAL;
}

static int take_cable(void)
{
	const char *wrong = cable_parse(optarg, &cable_time);

	if (!wrong)
		return 0;
	fprintf(stderr, "simhca: --cable: %s\n", wrong);
	return -EINVAL;
}

static int check_kind(const struct options *opt)
{
	const struct adapter_kind *kind = &opt->kind;

	if (!opt->hcas || opt->hcas > FABRIC_MAX) {
		fprintf(stderr, "simhca: --hca is 1 to %u\n", FABRIC_MAX);
		return -EINVAL;
	}
	if (kind->function == FUNCTION_PORT && opt->hcas % 2) {
		fputs("simhca: --function port wants an even --hca\n", stderr);
		return -EINVAL;
	}
	if (kind->eswitch &&
	    (kind->link != LINK_ETH || kind->function != FUNCTION_PF)) {
		fputs("simhca: --eswitch wants --link eth and --function pf\n",
		      stderr);
		return -EINVAL;
	}
	return 0;
}

static const struct option longs[] = {
	{ "dir", required_argument, NULL, 'd' },
	{ "hca", required_argument, NULL, 'n' },
	{ "link", required_argument, NULL, 'k' },
	{ "function", required_argument, NULL, 'f' },
	{ "eswitch", no_argument, NULL, 'e' },
	{ "cable", required_argument, NULL, 'c' },
	{ "log", required_argument, NULL, 'l' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int parse(int argc, char **argv, struct options *opt)
{
	char *end;
	int c, is;

	while ((c = getopt_long(argc, argv, "vh", longs, NULL)) != -1) {
		switch (c) {
		case 'd':
			opt->dir = optarg;
			break;
		case 'n':
			opt->hcas = (unsigned int)strtoul(optarg, &end, 10);
			if (*end)
				opt->hcas = 0;
			break;
		case 'k':
			is = choice("link", links);
			if (is < 0)
				return is;
			opt->kind.link = is;
			break;
		case 'f':
			is = choice("function", functions);
			if (is < 0)
				return is;
			opt->kind.function = is;
			break;
		case 'e':
			opt->kind.eswitch = true;
			break;
		case 'c':
			if (take_cable())
				return -EINVAL;
			break;
		case 'l':
			opt->log = optarg;
			break;
		case 'v':
			opt->verbose = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			return -EINVAL;
		}
	}
	if (!opt->dir || optind != argc) {
		fputs(usage, stderr);
		return -EINVAL;
	}
	return check_kind(opt);
}

static void signal_ready(struct sim_fd *sfd, uint32_t events)
{
	struct signalfd_siginfo info;

	(void)events;
	if (read(sfd->fd, &info, sizeof(info)) == sizeof(info))
		loop_stop();
}

static int signals_init(struct sim_fd *sfd)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	sfd->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (sfd->fd < 0)
		return -errno;
	sfd->events = EPOLLIN;
	sfd->ready = signal_ready;
	return loop_add(sfd);
}

static int serve(const struct options *opt)
{
	struct sim_fd signals = { .fd = -1 };
	char path[4096];
	int ret;

	ret = loop_init();
	if (ret)
		return ret;
	ret = signals_init(&signals);
	if (ret)
		goto out_loop;
	ret = adapters_init(opt->hcas, &opt->kind, opt->dir);
	if (ret)
		goto out_signals;
	snprintf(path, sizeof(path), "%s/control.sock", opt->dir);
	ret = control_init(path);
	if (!ret) {
		puts("ready");
		fflush(stdout);
		ret = loop_run();
	}
	control_fini();
	adapters_fini();
out_signals:
	loop_remove(&signals);
	close(signals.fd);
out_loop:
	loop_fini();
	return ret;
}

int main(int argc, char **argv)
{
	struct options opt = { .hcas = 1 };
	int ret;

	if (parse(argc, argv, &opt))
		return 2;
	ret = log_open(opt.log, opt.verbose);
	if (!ret)
		ret = serve(&opt);
	log_close();
	if (ret)
		fprintf(stderr, "simhca: %s\n", strerror(-ret));
	return ret ? 1 : 0;
}
