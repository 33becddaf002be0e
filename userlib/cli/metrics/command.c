// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mlx5ep metrics. Writes the figures to the output or to a file. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metrics.h"

static bool write_all(int fd, const char *text, size_t len)
{
	ssize_t n;

	for (; len; text += n, len -= n) {
		n = write(fd, text, len);
		if (n < 0 && errno == EINTR)
			n = 0;
		if (n < 0)
			return false;
	}
	return true;
}

/* The new file takes the place of the old one by a rename. */
static int write_file(const char *path, const char *text, size_t len)
{
	char new[PATH_LEN];
	int fd, ret;

	ret = snprintf(new, sizeof(new), "%s.XXXXXX", path);
	if (ret >= (int)sizeof(new))
		return complain(EXIT_FAILED, "--output %s: %s", path,
				what_failed(-ENAMETOOLONG));
	fd = mkostemp(new, O_CLOEXEC);
	if (fd < 0)
		return complain(exit_code(-errno), "--output %s: %s", path,
				what_failed(-errno));
	ret = write_all(fd, text, len) && !fchmod(fd, 0644) ? 0 : errno;
	if (close(fd) && !ret)
		ret = errno;
	if (!ret && rename(new, path))
		ret = errno;
	if (!ret)
		return EXIT_OK;
	unlink(new);
	return complain(exit_code(-ret), "--output %s: %s", path,
			what_failed(-ret));
}

/* A name that is not there would give figures of no device, and no error. */
static int check_device(struct cli *cli)
{
	struct cli named = { .device = cli->device, .bare = true };
	int code;

	if (!cli->device)
		return EXIT_OK;
	json_object_put(devices_get(&named, &code));
	if (code == EXIT_NO_DEVICE)
		return device_missing(cli->device);
	return devices_unread(code) ? code : EXIT_OK;
}

/**
 * cmd_metrics() - mlx5ep metrics [--output FILE]
 */
int cmd_metrics(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{}
	};
	const char *output = NULL;
	size_t len;
	char *text;
	int c, ret;

	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		if (c == '?')
			return EXIT_USAGE;
		output = optarg;
	}
	if (optind < argc)
		return usage_error("metrics", "%s: unexpected", argv[optind]);
	ret = check_device(cli);
	if (ret)
		return ret;
	text = metrics_text(cli, &len);
	if (!text)
		return complain(EXIT_FAILED, "the figures cannot be collected");
	ret = output ? write_file(output, text, len) :
		fwrite(text, 1, len, stdout) == len ? EXIT_OK : EXIT_FAILED;
	free(text);
	return ret;
}
