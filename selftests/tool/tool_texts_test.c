// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * How the tool reads texts: UTF-8, numbers of options, and the tables and lists of
 * debugfs. The objects of the tool are linked to this program.
 */
#include "kselftest_harness.h"

#include <limits.h>

#include "cli.h"

FIXTURE(texts) {};
FIXTURE_SETUP(texts) {}
FIXTURE_TEARDOWN(texts) {}

TEST_F(texts, become_utf8)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{ "", "" }, { "a\x7f\x01", "a\x7f\x01" },
		/* Two bytes: from U+00A0, as those below are control characters. */
		{ "\xc2\x9f", "??" }, { "\xc2\xa0", "\xc2\xa0" },
		{ "\xc2\xbf", "\xc2\xbf" }, { "\xc2\xc0", "??" },
		{ "\xc3\x80", "\xc3\x80" }, { "\xc3\x7f", "?\x7f" },
		{ "\xdf\xbf", "\xdf\xbf" }, { "\xdf\xc0", "??" },
		/* A second byte alone, and forms that are too long. */
		{ "\x80", "?" }, { "\xbf", "?" }, { "\xc0\x80", "??" },
		{ "\xc1\xbf", "??" }, { "\xc2", "?" },
		/* Three bytes. */
		{ "\xe0\x9f\xbf", "???" }, { "\xe0\xa0\x80", "\xe0\xa0\x80" },
		{ "\xe1\x80\x80", "\xe1\x80\x80" }, { "\xe1\x80", "??" },
		{ "\xe1\x80\x7f", "??\x7f" }, { "\xe1\xbf\xc0", "???" },
		{ "\xe0\xa0\x9f", "\xe0\xa0\x9f" },
		{ "\xec\xbf\xbf", "\xec\xbf\xbf" },
		{ "\xed\x9f\xbf", "\xed\x9f\xbf" }, { "\xed\xa0\x80", "???" },
		{ "\xed\x80\xbf", "\xed\x80\xbf" },
		{ "\xee\x80\x80", "\xee\x80\x80" }, { "\xef\xbf\xbf", "\xef\xbf\xbf" },
		/* Four bytes. */
		{ "\xf0\x8f\xbf\xbf", "????" }, { "\xf0\x90\x80\x80", "\xf0\x90\x80\x80" },
		{ "\xf1\x80\x80\x80", "\xf1\x80\x80\x80" }, { "\xf1\x80\x80", "???" },
		{ "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" }, { "\xf4\x90\x80\x80", "????" },
		{ "\xf4\x80\x90\x80", "\xf4\x80\x90\x80" },
		{ "\xf5\x80\x80\x80", "????" }, { "\xff", "?" },
		{ "z\xffz\xc3\xa9z", "z?z\xc3\xa9z" },
	};
	char text[16];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		memset(text, 0x80, sizeof(text));
		snprintf(text, sizeof(text), "%s", cases[i].from);
		EXPECT_EQ(&text[0], utf8_mend(text));
		EXPECT_STREQ(cases[i].to, text);
	}
}

TEST_F(texts, are_numbers_from_one_on)
{
	static const char *const bad[] = {
		"", "0", "00", "-1", "+1", " 1", "1 ", "1x", "x1", "101",
		"18446744073709551616", "18446744073709551617",
	};
	unsigned int value = 77;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_FALSE(number_parse(bad[i], 100, &value));
	EXPECT_EQ(77, value);
	EXPECT_TRUE(number_parse("1", 100, &value));
	EXPECT_EQ(1, value);
	EXPECT_TRUE(number_parse("100", 100, &value));
	EXPECT_EQ(100, value);
	EXPECT_TRUE(number_parse("099", 100, &value));
	EXPECT_EQ(99, value);
	EXPECT_TRUE(number_parse("9", 100, &value));
	EXPECT_EQ(9, value);
}

#define EXPECT_JSON(json, parse, text)					\
	do {								\
		char _text[] = text;					\
		struct json_object *_rows = parse(_text);		\
									\
		EXPECT_STREQ(json, json_object_to_json_string_ext(_rows, \
			JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)); \
		json_object_put(_rows);					\
	} while (0)
#define EXPECT_TABLE(json, text) EXPECT_JSON(json, table_parse, text)
#define EXPECT_PAIRS(json, text) EXPECT_JSON(json, pairs_parse, text)

TEST_F(texts, are_tables)
{
	EXPECT_TABLE("[]", "");
	EXPECT_TABLE("[]", "a b\n");
	EXPECT_TABLE("[]", "\na b\n1 2\n");
	EXPECT_TABLE("[{\"a\":1,\"b\":\"x\"}]", "a b\n1 x");
	EXPECT_TABLE("[{\"a\":1,\"b\":\"x y  z\"},{\"a\":2,\"b\":null}]",
		     " a\tb\t\n\n \t\n1 \tx y  z\n2 -\n");
	/* What a row lacks is null, and what it has too much is in the last column. */
	EXPECT_TABLE("[{\"a\":1,\"b\":null,\"c\":null}]", "a b c\n1\n");
	EXPECT_TABLE("[{\"a\":1,\"b\":\"2 3\"}]", "a b\n1 2 3\n");
	/* Only the last column is escaped. */
	EXPECT_TABLE("[{\"a\":\"\\\\101\",\"b\":\"A b\"}]", "a b\n\\101 \\101\\040b\n");
	EXPECT_TABLE("[{\"a\":\"\\\\101\",\"b\":null}]", "a b\n\\101\n");
}

TEST_F(texts, have_numbers)
{
	EXPECT_TABLE("[{\"a\":0},{\"a\":7},{\"a\":-7},{\"a\":18}]",
		     "a\n0\n7\n-7\n0x12\n");
	/* Of other forms they stay texts. */
	EXPECT_TABLE("[{\"a\":\"07\"},{\"a\":\"7x\"},{\"a\":\"--7\"}]",
		     "a\n07\n7x\n--7\n");
	EXPECT_TABLE("[{\"a\":12345678901234567},{\"a\":\"123456789012345678\"}]",
		     "a\n12345678901234567\n123456789012345678\n");
	EXPECT_TABLE("[{\"a\":\"0x12g\"},{\"a\":\"12ab\"},{\"a\":\"a\"}]",
		     "a\n0x12g\n12ab\na\n");
	EXPECT_TABLE("[{\"a\":\"?\"},{\"a\":0}]", "a\n\xff\n0x0\n");
}

/* Anybody can give a program a name that looks like a number. */
TEST_F(texts, of_programs_are_no_numbers)
{
	EXPECT_TABLE("[{\"pid\":7,\"comm\":\"0x10\"},{\"pid\":8,\"comm\":\"-\"}]",
		     "pid comm\n7 0x10\n8 -\n");
	EXPECT_TABLE("[{\"comm\":\"+5\"},{\"comm\":\"?\"}]", "comm\n+5\n\\377\n");
	EXPECT_PAIRS("[{\"kind\":\"qp\",\"comm\":\"5\"},{\"comm\":\"-\"}]",
		     "qp comm=5\ncomm=-\n");
}

TEST_F(texts, have_escaped_bytes)
{
	EXPECT_TABLE("[{\"a\":\"A?z\"}]", "a\nA\\377z\n");
	EXPECT_TABLE("[{\"a\":\"/\\\\\"}]", "a\n\\057\\134\n");
	/* These are no bytes, and a zero byte is none that a text can have. */
	EXPECT_TABLE("[{\"a\":\"\\\\08\"},{\"a\":\"\\\\10\"},{\"a\":\"\\\\\"}]",
		     "a\n\\08\n\\10\n\\\n");
	EXPECT_TABLE("[{\"a\":\"\\\\000\"},{\"a\":\"\\u0001\"}]", "a\n\\000\n\\001\n");
	EXPECT_TABLE("[{\"a\":\"\\\\/01\"},{\"a\":\"\\\\018\"},{\"a\":\"'\"}]",
		     "a\n\\/01\n\\018\n\\047\n");
	EXPECT_TABLE("[{\"a\":\"8\\\\9\"}]", "a\n\\070\\9\n");
}

TEST_F(texts, are_lists_of_pairs)
{
	EXPECT_PAIRS("[]", "");
	EXPECT_PAIRS("[]", "\n\n");
	EXPECT_PAIRS("[{\"kind\":\"qp\",\"number\":5,\"state\":\"RTR\",\"who\":null}]",
		     "qp number=5 state=RTR who=-\n");
	EXPECT_PAIRS("[{\"a\":1},{\"kind\":3,\"a\":\"b c\"}]", "a=1\n3  a=b\\040c");
	/* A key is a text, and may be absent. */
	EXPECT_PAIRS("[{\"key\":\"5\"},{\"key\":null},{\"key\":\"\"}]",
		     "key=5\nkey=-\nkey=\n");
	EXPECT_PAIRS("[{\"keys\":5,\"a\":\"b=c\"}]", "keys=5 a=b=c\n");
}

/* There is room for 32 columns. The last one has the rest of the line. */
TEST_F(texts, have_columns_up_to_a_limit)
{
	char text[512] = "", row[512] = "";
	struct json_object *rows, *last;
	int i;

	for (i = 0; i < 33; i++) {
		sprintf(text + strlen(text), "c%02d ", i);
		sprintf(row + strlen(row), "%d ", i);
	}
	strcat(text, "\n");
	strcat(text, row);
	rows = table_parse(text);
	EXPECT_EQ(32, json_object_object_length(json_object_array_get_idx(rows, 0)));
	EXPECT_TRUE(json_object_object_get_ex(json_object_array_get_idx(rows, 0),
					      "c31 c32 ", &last));
	EXPECT_STREQ("31 32 ", json_object_get_string(last));
	json_object_put(rows);
}

TEST_HARNESS_MAIN
