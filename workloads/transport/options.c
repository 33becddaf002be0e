// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The options of every program of the transport; see options.h. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <mlx5ep.h>

#include "option.h"
#include "options.h"

static const char common[] = "n:p:i:m:c:q:Q:e:l:g:u";
static const char happening[] = "k:K:S:E:";	/* with launch.has_middle */

static const char common_usage[] =
	"  -n NODES     nodes of the job (2)\n"
	"  -p PPN       processes of each node (1)\n"
	"  -i NODE      start this node only; the others run on other machines\n"
	"  -m MEET      file:DIRECTORY or tcp:ADDRESS:PORT of process 0\n"
	"  -c CATEGORY  of the send queues (dynamic)\n"
	"  -q CREDITS   messages on their way to each process (8)\n"
	"  -Q REQUESTS  in each send queue (64)\n"
	"  -e BYTES     longest message that is copied (4096)\n"
	"  -l HOW       long messages: read or write (read)\n"
	"  -g HOW       completions: poll, event or thread (poll)\n"
	"  -u           keep registrations for good, without notifications\n";

static const char happening_usage[] =
	"  -k RANK      process that is killed\n"
	"  -K WHERE     it is killed in: open, connect, middle, share, close or\n"
	"               leave (middle)\n"
	"  -S RANK      process that stops itself in the middle, with SIGSTOP\n"
	"  -E RANK      process that has an error of its own in the middle\n";

void options_usage(const struct launch *program)
{
	fprintf(stderr, "usage: %s [OPTION...]\n%s%s%s", program->name,
		program->usage, program->has_middle ? happening_usage : "",
		common_usage);
}

int launch_refuse(int c, const char *text, const char *what)
{
	fprintf(stderr, "-%c: '%s' is not %s\n", c, text, what);
	return -EINVAL;
}

/*
 * Position of a word in a list that ends with NULL. -EINVAL after a message.
 * @what: the words, for people
 */
static int word(int c, const char *text, const char *const *words,
		const char *what)
{
	int i;

	for (i = 0; words[i]; i++)
		if (!strcmp(text, words[i]))
			return i;
	return launch_refuse(c, text, what);
}

static int category(int c, const char *text, struct tp_attr *attr)
{
	int n = mlx5ep_category_parse(text);

	if (n < 0)
		return launch_refuse(c, text, "a category");
	attr->category = n;
	return 0;
}

static int where(int c, const char *text, struct options *o)
{
	static const char *const steps[] = {
		[TP_STEP_OPEN] = "open",
		[TP_STEP_CONNECT] = "connect",
		[TP_STEP_SHARE] = "share",
		[TP_STEP_CLOSE] = "close",
		[TP_STEP_LEAVE] = "leave",
		[TP_STEPS] = "middle",
		[TP_STEPS + 1] = NULL,
	};
	int n = word(c, text, steps,
		     "open, connect, middle, share, close or leave");

	if (n < 0)
		return n;
	o->in_middle = n == TP_STEPS;
	o->step = n;
	return 0;
}

static int rank(int c, const char *text, unsigned int *value)
{
	return option_number(c, text, 0, TP_PROCESSES - 1, value);
}

static int common_option(int c, const char *arg, struct options *o)
{
	static const char *const by[] = { "read", "write", NULL };
	static const char *const modes[] = { "poll", "event", "thread", NULL };
	struct tp_attr *attr = &o->attr;
	int n = 0;

	switch (c) {
	case 'n':
		return option_number(c, arg, 1, TP_NODES, &attr->nodes);
	case 'p':
		return option_number(c, arg, 1, TP_PROCESSES, &attr->ppn);
	case 'i':
		return option_number(c, arg, 0, TP_NODES - 1, &o->only);
	case 'm':
		attr->meet = arg;
		return 0;
	case 'c':
		return category(c, arg, attr);
	case 'q':
		return option_number(c, arg, 1, TP_CREDITS_MAX, &attr->credits);
	case 'Q':
		return option_number(c, arg, 1, TP_DEPTH_MAX, &attr->depth);
	case 'e':
		return option_number(c, arg, TP_EAGER_MIN, TP_EAGER_MAX,
				     &attr->eager);
	case 'l':
		attr->long_by = n = word(c, arg, by, "read or write");
		break;
	case 'g':
		attr->mode = n = word(c, arg, modes, "poll, event or thread");
		break;
	case 'u':
		attr->keep_for_good = true;
		break;
	}
	return n < 0 ? n : 0;
}

static int happening_option(int c, const char *arg, struct options *o)
{
	switch (c) {
	case 'k':
		return rank(c, arg, &o->killed);
	case 'K':
		return where(c, arg, o);
	case 'S':
		return rank(c, arg, &o->stopped);
	default:
		return rank(c, arg, &o->erring);
	}
}

static int one_option(const struct launch *program, int c, const char *arg,
		      struct options *o)
{
	if (strchr(common, c))
		return common_option(c, arg, o);
	if (program->has_middle && strchr(happening, c))
		return happening_option(c, arg, o);
	return program->option(c, arg);
}

/* Is there such a process? */
static bool is_one(unsigned int rank_of, const struct tp_attr *attr)
{
	return rank_of == OPTIONS_NONE || rank_of < attr->nodes * attr->ppn;
}

/* What is wrong with several options together, or NULL. */
static const char *contradiction(const struct options *o)
{
	const struct tp_attr *attr = &o->attr;

	if (attr->nodes * attr->ppn > TP_PROCESSES)
		return "-n, -p: too many processes";
	if (o->only != OPTIONS_NONE && o->only >= attr->nodes)
		return "-i: there is no such node";
	if (o->only != OPTIONS_NONE && !attr->meet)
		return "-i: needs -m, as the other nodes are elsewhere";
	if (!is_one(o->killed, attr) || !is_one(o->stopped, attr) ||
	    !is_one(o->erring, attr))
		return "-k, -S, -E: there is no such process";
	if (!o->in_middle && o->killed == OPTIONS_NONE)
		return "-K: needs -k";
	return NULL;
}

int options_parse(const struct launch *program, int argc, char **argv,
		  struct options *o)
{
	const char *wrong;
	char letters[128];
	int c, ret = 0;

	*o = (struct options){
		.attr = {
			.nodes = 2, .ppn = 1,
			.category = MLX5EP_CATEGORY_DYNAMIC,
		},
		.only = OPTIONS_NONE,
		.killed = OPTIONS_NONE,
		.stopped = OPTIONS_NONE,
		.erring = OPTIONS_NONE,
		.in_middle = true,
	};
	snprintf(letters, sizeof(letters), "%s%s%s", common,
		 program->has_middle ? happening : "", program->options);
	while (!ret && (c = getopt(argc, argv, letters)) != -1) {
		if (c == '?') {
			options_usage(program);
			return -EINVAL;
		}
		ret = one_option(program, c, optarg, o);
	}
	if (!ret && optind < argc) {
		options_usage(program);
		return -EINVAL;
	}
	wrong = ret ? NULL : contradiction(o);
	if (wrong)
		fprintf(stderr, "%s\n", wrong);
	return wrong ? -EINVAL : ret;
}
