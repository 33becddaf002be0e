// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Text from outside may be any bytes: the name of a program, of a cgroup. JSON and
 * OpenMetrics are UTF-8, and so is a terminal.
 */
#include "cli.h"

/*
 * The length of the character at @p; 0: it is not UTF-8, or a control character of
 * C1 (U+0080 to U+009F). The second byte has bounds of its own where the first byte
 * could begin a longer form than needed, a surrogate, or more than U+10FFFF.
 */
static size_t length(const unsigned char *p)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t i, n;

	if (*p < 0x80)
		return 1;
	n = *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
	if (*p == 0xc2 || *p == 0xe0)
		low = 0xa0;
	else if (*p == 0xf0)
		low = 0x90;
	else if (*p == 0xed)
		high = 0x9f;
	else if (*p == 0xf4)
		high = 0x8f;
	for (i = 1; i < n; i++) {
		if (p[i] < low || p[i] > high)
			return 0;
		low = 0x80;
		high = 0xbf;
	}
	return n;
}

/**
 * utf8_mend() - replace each byte that is part of no character by '?'
 * @text: changed in place
 *
 * Return: @text.
 */
char *utf8_mend(char *text)
{
	char *p = text;
	size_t n;

	while (*p) {
		n = length((unsigned char *)p);
		if (!n)
			*p = '?';
		p += n ? n : 1;
	}
	return text;
}
