/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Numbers that people give to programs. */
#ifndef SELFTESTS_OPTION_H
#define SELFTESTS_OPTION_H

/**
 * option_number() - the number of an option
 * @letter: of the option, for the message
 * @text: what was given: digits, or 0x and hexadecimal ones, and nothing else
 * @min: the smallest number that is allowed
 * @max: the largest one
 * @value: set if the number is allowed
 *
 * Return: 0. -EINVAL if it is not, after a message on stderr that names the option
 * and the bounds.
 */
int option_number(int letter, const char *text, unsigned int min,
		  unsigned int max, unsigned int *value);

#endif
