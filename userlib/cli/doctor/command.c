// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mlx5ep doctor: prints what the checks have found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli.h"

/* A text of a finding may have a program's name in it. */
static void print_text(const char *before, const char *text)
{
	char *copy = strdup(text);

	printf("%s%s\n", before, copy ? printable(copy) : "no memory");
	free(copy);
}

static void print_report(struct cli *cli, struct json_object *findings)
{
	char buf[64];
	size_t i;

	for (i = 0; i < json_object_array_length(findings); i++) {
		struct json_object *row = json_object_array_get_idx(findings, i);
		const char *verdict = json_text(row, "verdict", NULL);
		const char *color = *verdict == 'o' ? "32" :
			*verdict == 'w' ? "33" : "1;31";

		printf("%s: %s",
		       paint(cli, color, verdict, buf, sizeof(buf)),
		       json_text(row, "what", NULL));
		print_text(": ", json_text(row, "finding", NULL));
		if (json_text(row, "remedy", NULL))
			print_text("    mend with: ",
				   json_text(row, "remedy", NULL));
	}
}

/**
 * cmd_doctor() - mlx5ep doctor
 */
int cmd_doctor(struct cli *cli, int argc, char **argv)
{
	struct json_object *findings;
	unsigned int bad;

	if (argc > 1)
		return usage_error("doctor", "%s: unexpected", argv[1]);
	findings = doctor_findings(cli, true, &bad);
	if (cli->json)
		print_json(findings);
	else
		print_report(cli, findings);
	json_object_put(findings);
	return bad ? EXIT_FAILED : EXIT_OK;
}
