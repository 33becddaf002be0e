// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * The settings of the tool: which values are correct, what the configuration file
 * says, what differs from it, and writes that are undone. The objects of the tool are
 * linked to this program, which has attributes of its own and takes the messages.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <sanitizer/lsan_interface.h>
#include <stdarg.h>
#include <unistd.h>

#include "change.h"
#include "cli.h"
#include "compare.h"

#define MOST		8

/* What stands for files: attributes with their paths. */
static struct attribute {
	char path[PATH_LEN], text[4096];
	int refuses;		/* what a write says; 0: it succeeds */
	bool hidden;		/* it cannot be read */
} files[MOST];

static char said[8192];		/* what the tool has complained, a line each */

int complain(int code, const char *fmt, ...)
{
	size_t at = strlen(said);
	va_list args;

	va_start(args, fmt);
	vsnprintf(said + at, sizeof(said) - at - 1, fmt, args);
	va_end(args);
	strcat(said, "\n");
	return code;
}

int exit_code(int err)
{
	return err == -EACCES || err == -EPERM ? EXIT_PERMISSION :
	       err ? EXIT_FAILED : EXIT_OK;
}

const char *what_failed(int err)
{
	return strerror(-err);
}

char *printable(char *text)
{
	return text;
}

void root_path(char *path, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(path, PATH_LEN, fmt, args);
	va_end(args);
}

static struct attribute *file(const char *path)
{
	struct attribute *at;

	for (at = files; at < files + MOST; at++)
		if (!strcmp(at->path, path))
			return at;
	errno = ENOENT;
	return NULL;
}

bool path_exists(const char *path)
{
	return file(path);
}

char *file_list(const char *path)
{
	struct attribute *at = file(path);

	if (at && at->hidden)
		errno = EIO;
	return at && !at->hidden ? strdup(at->text) : NULL;
}

int file_write(const char *path, const char *text)
{
	struct attribute *at = file(path);

	if (!at)
		return -ENOENT;
	if (!at->refuses)
		strcpy(at->text, text);
	return at->refuses;
}

static struct attribute *add_file(const char *path, const char *text)
{
	struct attribute *at = file("");

	if (!at)
		abort();
	strcpy(at->path, path);
	strcpy(at->text, text);
	return at;
}

#define DEVICE(name) "sys/class/infiniband/mlx5_0/mlx5_ep/" name
#define MODULE(name) "sys/module/mlx5_ep/parameters/" name

FIXTURE(settings)
{
	struct config config;
	int lowest;		/* file descriptor that is free */
	int err;		/* of compare() */
};

static int lowest_free(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

FIXTURE_SETUP(settings)
{
	memset(files, 0, sizeof(files));
	memset(&self->config, 0, sizeof(self->config));
	*said = 0;
	self->lowest = lowest_free();
	self->err = 0;
}

FIXTURE_TEARDOWN(settings)
{
	config_free(&self->config);
	EXPECT_EQ(NULL, self->config.entries);
	EXPECT_EQ(self->lowest, lowest_free());
	EXPECT_EQ(0, __lsan_do_recoverable_leak_check());
}

#define EXPECT_SAID(text)						\
	do {								\
		EXPECT_STREQ(text, said);				\
		*said = 0;						\
	} while (0)

static int settings_number_of(int scope)
{
	const struct setting *setting = NULL;
	int n = 0;

	while ((setting = setting_next(setting, scope)))
		n += !!(setting->scopes & scope);
	return n;
}

TEST_F(settings, are_of_scopes)
{
	EXPECT_EQ(6, settings_number_of(FOR_DEVICE));
	EXPECT_EQ(4, settings_number_of(FOR_CGROUP));
	EXPECT_EQ(6, settings_number_of(FOR_MODULE));
	EXPECT_EQ(0, settings_number_of(8));
	EXPECT_STREQ("uar_budget", setting_find("budget", FOR_DEVICE)->attribute);
	EXPECT_EQ(NULL, setting_find("budget", FOR_CGROUP));
	EXPECT_EQ(NULL, setting_find("budge", FOR_DEVICE));
	EXPECT_STREQ("xrc_regs_per_user",
		     setting_find("xrc_regs_per_user", FOR_MODULE)->attribute);
}

/* Looks at a value, and at what becomes of it. */
#define EXPECT_VALUE(error, becomes, name, scope, value)		\
	do {								\
		char _text[2048] = value;				\
		const char *_error = setting_error(setting_find(name, scope), \
						   _text);		\
									\
		EXPECT_STREQ(error, _error ? _error : "");		\
		if (!_error)						\
			EXPECT_STREQ(becomes, _text);			\
	} while (0)
#define EXPECT_CORRECT(becomes, name, value) \
	EXPECT_VALUE("", becomes, name, FOR_DEVICE, value)
#define EXPECT_WRONG(error, name, value) \
	EXPECT_VALUE(error, "", name, FOR_DEVICE, value)

TEST_F(settings, have_correct_values)
{
	EXPECT_CORRECT("stock", "policy", "stock");
	EXPECT_CORRECT("independent", "policy", "independent");
	EXPECT_CORRECT("shared-uar", "policy", "shared-uar");
	EXPECT_CORRECT("shared-uuar", "policy", "shared-uuar");
	EXPECT_WRONG("not one of stock independent shared-uar shared-uuar",
		     "policy", "shared");
	EXPECT_CORRECT("1", "strict", "on");
	EXPECT_CORRECT("1", "strict", "1");
	EXPECT_CORRECT("1", "strict", "yes");
	EXPECT_CORRECT("0", "strict", "off");
	EXPECT_CORRECT("0", "strict", "0");
	EXPECT_CORRECT("0", "strict", "no");
	EXPECT_WRONG("neither on nor off", "strict", "2");
	EXPECT_CORRECT("0", "pages", "0");
	EXPECT_CORRECT("8", "pages", "0008");
	EXPECT_CORRECT("256", "pages", "256");
	EXPECT_WRONG("more than 256", "pages", "257");
	EXPECT_WRONG("not a number", "pages", "");
	EXPECT_WRONG("not a number", "pages", "-1");
	EXPECT_WRONG("not a number", "pages", "1x");
	EXPECT_CORRECT("999999999", "budget", "999999999");
	EXPECT_WRONG("not a number", "budget", "0000000001");
	EXPECT_VALUE("0 is no limit; leave the line out for none", "", "limit",
		     FOR_CGROUP, "00");
	EXPECT_VALUE("", "1", "limit", FOR_CGROUP, "01");
}

TEST_F(settings, have_names)
{
	char text[2048] = "";
	int i;

	EXPECT_CORRECT("", "exempt", "");
	EXPECT_CORRECT("a bc d#", "exempt", " \ta  bc\t d# ");
	EXPECT_CORRECT("123456789012345", "exempt", "123456789012345");
	EXPECT_WRONG("a name is longer than 15 characters", "exempt",
		     "a 1234567890123456");
	EXPECT_WRONG("a name begins with #, which begins a comment", "exempt",
		     "a #b");
	EXPECT_WRONG("a name has a semicolon, which ends a setting", "exempt",
		     "a b;c");
	for (i = 0; i < 63; i++)
		strcat(text, "123456789012345 ");
	strcat(text, "123456789012345");
	EXPECT_EQ(NULL, setting_error(setting_find("exempt", FOR_DEVICE), text));
	EXPECT_EQ(1023, strlen(text));
	strcpy(text + 1008, "12345678901234 x");
	EXPECT_STREQ("more than 1023 characters",
		     setting_error(setting_find("exempt", FOR_DEVICE), text));
}

#define EXPECT_PATH(path, text)						\
	do {								\
		char _path[12];						\
									\
		EXPECT_EQ(0, cgroup_path(text, _path, sizeof(_path)));	\
		EXPECT_STREQ(path, _path);				\
	} while (0)

TEST_F(settings, have_paths_of_cgroups)
{
	char path[12];

	EXPECT_PATH("/", "/");
	EXPECT_PATH("/", "///");
	EXPECT_PATH("/", "/sys/fs/cgroup");
	EXPECT_PATH("/", "/sys/fs/cgroup/");
	EXPECT_PATH("/a/b", "/a/b//");
	EXPECT_PATH("/a", "/sys/fs/cgroup/a");
	EXPECT_PATH("/", "");
	EXPECT_PATH("/2345678901", "/2345678901");
	EXPECT_EQ(-EINVAL, cgroup_path("/23456789012", path, sizeof(path)));
	EXPECT_EQ(-EINVAL, cgroup_path("/sys/fs/cgroups", path, sizeof(path)));
	EXPECT_EQ(-EINVAL, cgroup_path("a", path, sizeof(path)));
	EXPECT_EQ(-EINVAL, cgroup_path("/a b", path, sizeof(path)));
	EXPECT_EQ(-EINVAL, cgroup_path("/a\t", path, sizeof(path)));
	EXPECT_EQ(-EINVAL, cgroup_path("/\n", path, sizeof(path)));
}

/* Reads a text as the file. */
static int read_text(struct config *config, const char *text, size_t len)
{
	char path[] = "/tmp/tool_settings.XXXXXX";
	int ret, fd = mkstemp(path);

	config_free(config);
	if (fd < 0 || write(fd, text, len) != len)
		return -1;
	close(fd);
	ret = config_read(config, path, "conf");
	unlink(path);
	return ret;
}

#define READ(text) read_text(&self->config, text, strlen(text))
#define EXPECT_BAD(text, config)					\
	do {								\
		EXPECT_EQ(EXIT_FAILED, READ(config));			\
		EXPECT_SAID(text);					\
	} while (0)

TEST_F(settings, of_a_file_are_read)
{
	static const char text[] =
		"# comment\n"
		"  ; another\n"
		"[module] # with a comment\n"
		"xrc_qps_per_user = 012 ; and one\n"
		"\t[device  mlx5_0 ]\t\n"
		"exempt = a#b  c;d#e\n"
		"[device *]\n"
		"exempt=a#b\tc\n"
		"[cgroup /sys/fs/cgroup/x/]\n"
		"policy=independent\n"
		"[cgroup /x device 0000:01:00.0]\n"
		"policy=stock\n"
		"limit = 5";
	struct config_entry *entry;

	EXPECT_BAD("conf:6: exempt = a#b  c;d#e: a name has a semicolon, which ends a setting\n",
		   text);
	EXPECT_EQ(EXIT_OK, READ("[module]\nxrc_qps_per_user = 012 ; and one\n"
				"[device\tmlx5_0 ]\nexempt = a#b\n"
				"[cgroup /sys/fs/cgroup/x/]\npolicy=independent\n"
				"[cgroup /x device 0000:01:00.0]\npolicy=stock\n"
				"limit = 5"));
	EXPECT_SAID("");
	EXPECT_FALSE(self->config.missing);
	entry = self->config.entries;
	EXPECT_EQ(2, entry->line);
	EXPECT_EQ(FOR_MODULE, entry->section.scope);
	EXPECT_STREQ("12", entry->value);
	EXPECT_STREQ("", entry->section.device);
	EXPECT_STREQ("xrc_qps_per_user", entry->setting->name);
	entry = entry->next;
	EXPECT_EQ(FOR_DEVICE, entry->section.scope);
	EXPECT_STREQ("mlx5_0", entry->section.device);
	EXPECT_STREQ("a#b", entry->value);
	entry = entry->next;
	EXPECT_EQ(FOR_CGROUP, entry->section.scope);
	EXPECT_STREQ("/x", entry->section.cgroup);
	EXPECT_STREQ("*", entry->section.device);
	entry = entry->next;
	EXPECT_STREQ("0000:01:00.0", entry->section.device);
	entry = entry->next;
	EXPECT_EQ(9, entry->line);
	EXPECT_STREQ("5", entry->value);
	EXPECT_EQ(NULL, entry->next);
}

TEST_F(settings, of_a_file_are_all_checked)
{
	EXPECT_BAD("conf:1: a setting stands before the first [SECTION]\n",
		   "policy = stock\npages = 1\n[device *]\npages = 2\n");
	EXPECT_BAD("conf:2: neither [SECTION] nor NAME = VALUE\n"
		   "conf:3: 'policies' is no setting of this section\n"
		   "conf:4: pages = x: not a number\n",
		   "[device *]\npolicy\npolicies = x\npages = x\nbudget = 1\n");
	EXPECT_BAD("conf:3: pages is set in line 2 already\n",
		   "[device *]\npages = 1\npages = 2\n");
	EXPECT_BAD("conf:4: pages is set in line 2 already\n",
		   "[device *]\npages = 1\n[device *]\npages = 2\n");
	EXPECT_BAD("conf:1: the line begins with [ and does not end with ]\n",
		   "[device *\npages = 1\n");
	EXPECT_BAD("conf:1: not one of [module], [device DEVICE], [cgroup PATH]\n",
		   "[devices *]\npages = x\n");
	EXPECT_BAD("conf:1: not one of [module], [device DEVICE], [cgroup PATH]\n",
		   "[]\n");
	EXPECT_BAD("conf:1: a device is missing: a name, a PCI address, or *\n",
		   "[device]\n");
	EXPECT_BAD("conf:1: a word too many in the brackets\n", "[device a b]\n");
	EXPECT_BAD("conf:1: a word too many in the brackets\n", "[module a]\n");
	EXPECT_BAD("conf:1: a word too many in the brackets\n",
		   "[cgroup /a device b c]\n");
	EXPECT_BAD("conf:1: a device is missing: a name, a PCI address, or *\n",
		   "[cgroup /a device]\n");
	EXPECT_BAD("conf:1: behind the path of a cgroup only 'device DEVICE' may stand\n",
		   "[cgroup /a b]\n");
	EXPECT_BAD("conf:1: a cgroup is a path that begins with / and has no blanks\n",
		   "[cgroup]\n");
	EXPECT_BAD("conf:1: a cgroup is a path that begins with / and has no blanks\n",
		   "[cgroup a]\n");
	EXPECT_BAD("conf:1: not the name of a device, not a PCI address, and not *\n",
		   "[device a/b]\n");
	EXPECT_BAD("conf:1: not the name of a device, not a PCI address, and not *\n",
		   "[device **]\n");
	EXPECT_EQ(EXIT_FAILED, read_text(&self->config, "[module]\n\0\n", 11));
	EXPECT_SAID("conf:2: a zero byte\n");
	/* After an error the lines up to the next section are passed over. */
	EXPECT_BAD("conf:3: the line begins with [ and does not end with ]\n",
		   "[device *]\npages = 1\n[device a\npages = 2\n");
	EXPECT_BAD("conf:3: neither [SECTION] nor NAME = VALUE\n",
		   "[cgroup /a]\npages = 1\nx\n");
	EXPECT_EQ(EXIT_OK, READ("[device *]\n\n \t\n# c\npages = 1\n[device a_-.:]\npages = 1\n"
				"[cgroup /a]\nlimit = 1\n[cgroup /b]\nlimit = 1\n"));
	EXPECT_SAID("");
	config_free(&self->config);
	memset(&self->config, 0xa5, sizeof(self->config));
	EXPECT_EQ(EXIT_OK, config_read(&self->config, "/nowhere/conf", "conf"));
	EXPECT_TRUE(self->config.missing);
	EXPECT_EQ(EXIT_FAILED, config_read(&self->config, "/", "conf"));
	EXPECT_SAID("conf:0: cannot read: Is a directory\n");
	EXPECT_EQ(EXIT_FAILED, config_read(&self->config, "/dev/null/x", "conf"));
	EXPECT_SAID("conf: Not a directory\n");
}

TEST_F(settings, lose_blanks_and_comments)
{
	char both[] = " \ta b \t", comment[] = "x #c", inside[] = "a#b;c ;d";
	char none[] = "";

	EXPECT_STREQ("a b", config_trim(both));
	EXPECT_STREQ("", config_trim(comment + 1));
	EXPECT_STREQ("x ", comment);
	EXPECT_STREQ("a#b;c", config_trim(inside));
	EXPECT_STREQ("", config_trim(none));
}

TEST_F(settings, have_sections_of_a_length)
{
	char text[512], name[300];

	memset(name, 'a', sizeof(name));
	name[63] = 0;
	sprintf(text, "[device %s]\npages = 1\n", name);
	EXPECT_EQ(EXIT_OK, READ(text));
	EXPECT_STREQ(name, self->config.entries->section.device);
	name[63] = 'a';
	name[64] = 0;
	sprintf(text, "[device %s]\npages = 1\n", name);
	EXPECT_BAD("conf:1: not the name of a device, not a PCI address, and not *\n",
		   text);
}

TEST_F(settings, of_a_cgroup_need_a_policy)
{
	EXPECT_BAD("conf:2: the section of cgroup /a has no policy\n"
		   "conf:3: the section of cgroup /a has no policy\n",
		   "[cgroup /a]\nstrict = on\npages = 1\nlimit = 3\n"
		   "[cgroup /b]\npolicy = stock\n");
	EXPECT_BAD("conf:2: the section of cgroup /a has no policy\n",
		   "[cgroup /a]\npages = 1\n[cgroup /a device x]\npolicy = stock\n");
	EXPECT_EQ(EXIT_OK, READ("[cgroup /a]\nstrict = on\npages = 1\npolicy=stock\n"));
}

#define EXPECT_DEFAULTS(text)						\
	do {								\
		char *_text = config_defaults(&self->config, NULL);	\
									\
		EXPECT_STREQ(text, _text);				\
		free(_text);						\
	} while (0)

TEST_F(settings, of_all_devices_stand_first)
{
	EXPECT_DEFAULTS("");
	EXPECT_EQ(EXIT_OK, READ("[device a]\npages = 1\nbudget = 2\n[module]\n"
				"xrc_qps_per_user = 3\n[device *]\npages = 4\n"
				"[cgroup /x]\nlimit = 5\n[device b]\npages = 6\n"));
	EXPECT_DEFAULTS("* uuar_pages 4\na uuar_pages 1\na uar_budget 2\nb uuar_pages 6\n");
}

/* Each line of @text is 40 bytes of the parameter. */
static void many_devices(char *text, int n, int extra)
{
	int i;

	*text = 0;
	for (i = 0; i < n; i++)
		sprintf(text + strlen(text), "[device %0*d]\npages = 1\n",
			26 + (i == n - 1 ? extra : 0), i);
}

TEST_F(settings, of_devices_are_as_many_as_the_module_takes)
{
	static char text[16384];
	char *defaults;

	many_devices(text, 100, 0);
	EXPECT_EQ(EXIT_OK, READ(text));
	defaults = config_defaults(&self->config, NULL);
	EXPECT_EQ(4000, strlen(defaults));
	free(defaults);
	many_devices(text, 100, 1);
	EXPECT_BAD("conf:200: the settings of devices are more than 4000 characters for the module, from this line on: say them for all devices, or shorten them\n",
		   text);
	many_devices(text, 103, 0);
	EXPECT_BAD("conf:202: the settings of devices are more than 4000 characters for the module, from this line on: say them for all devices, or shorten them\n",
		   text);
	defaults = config_defaults(&self->config, NULL);
	EXPECT_EQ(4120, strlen(defaults));
	free(defaults);
	strcat(text, "x\n");
	EXPECT_BAD("conf:207: neither [SECTION] nor NAME = VALUE\n", text);
}

static unsigned int found_line(const struct config *config, const char *device,
			       const char *cgroup, const char *name)
{
	struct config_section section = {
		.scope = *cgroup ? FOR_CGROUP : FOR_DEVICE,
	};
	const struct config_entry *entry;

	strcpy(section.device, device);
	strcpy(section.cgroup, cgroup);
	entry = config_find(config, &section, "pci",
			    setting_find(name, section.scope));
	return entry ? entry->line : 0;
}

TEST_F(settings, hold_for_the_device_that_is_named)
{
	EXPECT_EQ(EXIT_OK, READ("[device *]\npages = 1\n[device a]\npages = 2\n"
				"[device pci]\npages = 3\n[device b]\npages = 4\n"
				"[cgroup /x]\npolicy = stock\npages = 5\n"
				"[cgroup /x device a]\npolicy = stock\npages = 6\n"
				"[device *]\nbudget = 7\n"));
	EXPECT_EQ(6, found_line(&self->config, "a", "", "pages"));
	EXPECT_EQ(8, found_line(&self->config, "b", "", "pages"));
	EXPECT_EQ(6, found_line(&self->config, "c", "", "pages"));
	EXPECT_EQ(16, found_line(&self->config, "a", "", "budget"));
	EXPECT_EQ(0, found_line(&self->config, "a", "", "user_limit"));
	EXPECT_EQ(14, found_line(&self->config, "a", "/x", "pages"));
	EXPECT_EQ(11, found_line(&self->config, "c", "/x", "pages"));
	EXPECT_EQ(0, found_line(&self->config, "a", "/y", "pages"));
	/* One for all that comes later does not matter. */
	EXPECT_EQ(EXIT_OK, READ("[device a]\npages = 1\n[device *]\npages = 2\n"));
	EXPECT_EQ(2, found_line(&self->config, "a", "", "pages"));
	EXPECT_EQ(4, found_line(&self->config, "c", "", "pages"));
}

#define WRITE(device, attribute, value, cgroup) \
	change_write(&done, device, attribute, value, cgroup)

TEST_F(settings, are_undone_the_last_first)
{
	struct attribute *budget = add_file(DEVICE("uar_budget"), "5\n");
	struct attribute *users = add_file(MODULE("xrc_qps_per_user"), "8");
	struct change *done = NULL;

	EXPECT_EQ(EXIT_OK, WRITE("mlx5_0", "uar_budget", "6", NULL));
	EXPECT_EQ(EXIT_OK, WRITE(NULL, "xrc_qps_per_user", "9", NULL));
	EXPECT_EQ(EXIT_OK, WRITE("mlx5_0", "uar_budget", "7", NULL));
	EXPECT_STREQ("7\n", budget->text);
	EXPECT_STREQ("9\n", users->text);
	change_end(done, true);
	EXPECT_SAID("mlx5_0: uar_budget is put back to '6'\n"
		    "module: xrc_qps_per_user is put back to '8'\n"
		    "mlx5_0: uar_budget is put back to '5'\n");
	EXPECT_STREQ("5\n", budget->text);
	EXPECT_STREQ("8\n", users->text);
	done = NULL;
	EXPECT_EQ(EXIT_OK, WRITE("mlx5_0", "uar_budget", "6", NULL));
	change_end(done, false);
	EXPECT_SAID("");
	EXPECT_STREQ("6\n", budget->text);
	change_end(NULL, true);
}

TEST_F(settings, of_cgroups_are_undone)
{
	struct attribute *policies = add_file(DEVICE("uuar_cgroups"),
					      "/ab x\n/a stock 0 0\n/b y\n");
	struct attribute *limits = add_file(DEVICE("uar_cgroup_limits"), "/b 3\n");
	struct change *done = NULL;

	EXPECT_EQ(EXIT_OK, WRITE("mlx5_0", "uuar_cgroups", "/a shared 0 1", "/a"));
	EXPECT_EQ(EXIT_OK, WRITE("mlx5_0", "uar_cgroup_limits", "/a 4", "/a"));
	EXPECT_STREQ("/a shared 0 1\n", policies->text);
	EXPECT_STREQ("/a 4\n", limits->text);
	strcpy(policies->text, "/b y\n");
	EXPECT_EQ(EXIT_OK, WRITE("mlx5_0", "uuar_cgroups", "/a z", "/a"));
	change_end(done, true);
	EXPECT_SAID("mlx5_0: uuar_cgroups is put back to '/a none 0 0'\n"
		    "mlx5_0: uar_cgroup_limits is put back to '/a none'\n"
		    "mlx5_0: uuar_cgroups is put back to '/a stock 0 0'\n");
	EXPECT_STREQ("/a stock 0 0\n", policies->text);
}

/* Writes a value of an attribute that refuses it. */
#define EXPECT_REFUSED(at, error, code, name, value, text)		\
	do {								\
		(at)->refuses = (error);				\
		EXPECT_EQ(code, WRITE("mlx5_0", name, value, NULL));	\
		EXPECT_SAID(text);					\
	} while (0)

TEST_F(settings, that_are_refused_are_told_of)
{
	struct attribute *budget = add_file(DEVICE("uar_budget"), "5\n");
	struct attribute *exempt = add_file(DEVICE("uuar_exempt"), "\n");
	struct attribute *strict = add_file(DEVICE("uuar_strict"), "0\n");
	struct change *done = NULL;

	EXPECT_EQ(EXIT_OK, WRITE("mlx5_0", "uuar_strict", "1", NULL));
	strict->refuses = -EIO;
	EXPECT_REFUSED(budget, -EINVAL, EXIT_FAILED, "uar_budget", "6",
		       "mlx5_0: uar_budget: the device does not have that many UAR pages\n");
	EXPECT_REFUSED(budget, -EACCES, EXIT_PERMISSION, "uar_budget", "6",
		       "mlx5_0: uar_budget: permission denied: only root may set it; a user has mlx5ep run --policy\n");
	EXPECT_REFUSED(budget, -EPERM, EXIT_PERMISSION, "uar_budget", "6",
		       "mlx5_0: uar_budget: permission denied: only root may set it; a user has mlx5ep run --policy\n");
	EXPECT_REFUSED(budget, -ENOENT, EXIT_FAILED, "uar_budget", "6",
		       "mlx5_0: no such cgroup, or nothing is set for it: see mlx5ep show cgroups\n");
	EXPECT_REFUSED(budget, -EIO, EXIT_FAILED, "uar_budget", "6",
		       "mlx5_0: uar_budget: Input/output error\n");
	EXPECT_REFUSED(exempt, -EINVAL, EXIT_FAILED, "uuar_exempt", "6",
		       "mlx5_0: uuar_exempt: a name is longer than 15 characters, or there are too many names\n");
	EXPECT_REFUSED(exempt, -EIO, EXIT_FAILED, "uuar_exempt", "6",
		       "mlx5_0: uuar_exempt: Input/output error\n");
	EXPECT_REFUSED(strict, -EINVAL, EXIT_FAILED, "uuar_strict", "2",
		       "mlx5_0: uuar_strict: Invalid argument\n");
	EXPECT_EQ(EXIT_FAILED, WRITE(NULL, "notifiers_per_user", "2", NULL));
	EXPECT_SAID("module: this module has no notifiers_per_user: it is older than the tool, see mlx5ep doctor\n");
	EXPECT_EQ(EXIT_FAILED, WRITE("mlx5_0", "uuar_cgroups", "/a x", "/a"));
	EXPECT_SAID("mlx5_0: this module has no uuar_cgroups: it is older than the tool, see mlx5ep doctor\n");
	strict->refuses = -EIO;
	change_end(done, true);
	EXPECT_SAID("mlx5_0: the old value of uuar_strict could not be restored: Input/output error; it was '0'\n");
}

TEST_F(settings, that_cannot_be_read_are_not_written)
{
	struct attribute *budget = add_file(DEVICE("uar_budget"), "5\n");
	struct attribute *limits = add_file(DEVICE("uar_cgroup_limits"), "/a 5\n");
	struct change *done = NULL;

	budget->hidden = limits->hidden = true;
	EXPECT_EQ(EXIT_FAILED, WRITE("mlx5_0", "uar_budget", "6", NULL));
	EXPECT_SAID("mlx5_0: uar_budget: Input/output error\n");
	EXPECT_EQ(EXIT_FAILED, WRITE("mlx5_0", "uar_cgroup_limits", "/a 6", "/a"));
	EXPECT_SAID("mlx5_0: uar_cgroup_limits: Input/output error\n");
	EXPECT_STREQ("5\n", budget->text);
	EXPECT_STREQ("/a 5\n", limits->text);
	EXPECT_EQ(NULL, done);
}

TEST_F(settings, are_read_without_the_newline)
{
	char list[] = "/ab 1\n/a\n/a 2\n/a 3", *text;

	add_file(DEVICE("uar_budget"), "5\n");
	add_file(DEVICE("uuar_exempt"), "");
	text = change_old("mlx5_0", "uar_budget");
	EXPECT_STREQ("5", text);
	free(text);
	text = change_old("mlx5_0", "uuar_exempt");
	EXPECT_STREQ("", text);
	free(text);
	EXPECT_EQ(NULL, change_old("mlx5_1", "uuar_exempt"));
	EXPECT_STREQ("/a 2", change_line(list, "/a"));
	EXPECT_EQ(NULL, change_line(NULL, "/a"));
}

#define EXPECT_DIFFERENCES(json, device)				\
	do {								\
		int _err = -1;						\
		struct json_object *_rows = compare(&self->config, device, \
						    "pci", &_err);	\
									\
		EXPECT_EQ(self->err, _err);				\
		EXPECT_STREQ(json, json_object_to_json_string_ext(_rows, \
			JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)); \
		json_object_put(_rows);					\
	} while (0)

TEST_F(settings, that_differ_are_found)
{
	add_file(DEVICE("uar_budget"), "5\n");
	add_file(DEVICE("uuar_pages"), "1\n");
	add_file(MODULE("xrc_qps_per_user"), "8\n");
	EXPECT_EQ(EXIT_OK, READ("[device mlx5_0]\nbudget = 5\npages = 2\n"
				"user_limit = 7\n[module]\nxrc_qps_per_user = 9\n"
				"[cgroup /x]\nlimit = 3\n"));
	EXPECT_DIFFERENCES("[{\"setting\":\"xrc_qps_per_user\",\"attribute\":\"xrc_qps_per_user\",\"now\":\"8\",\"saved\":\"9\",\"line\":6}]",
			   NULL);
	EXPECT_DIFFERENCES("[{\"setting\":\"pages\",\"attribute\":\"uuar_pages\",\"now\":\"1\",\"saved\":\"2\",\"line\":3},"
			   "{\"setting\":\"user_limit\",\"attribute\":\"uar_user_limit\",\"now\":null,\"saved\":\"7\",\"line\":4},"
			   "{\"setting\":\"/x\",\"attribute\":\"uar_cgroup_limits\",\"cgroup\":\"/x\",\"now\":null,\"saved\":\"3\",\"line\":8}]",
			   "mlx5_0");
	EXPECT_DIFFERENCES("[{\"setting\":\"/x\",\"attribute\":\"uar_cgroup_limits\",\"cgroup\":\"/x\",\"now\":null,\"saved\":\"3\",\"line\":8}]",
			   "mlx5_1");
}

/* They count as different, so that apply says why, and all others are found. */
TEST_F(settings, that_cannot_be_read_hide_no_others)
{
	struct attribute *budget = add_file(DEVICE("uar_budget"), "5\n");
	struct attribute *policies = add_file(DEVICE("uuar_cgroups"), "");

	add_file(DEVICE("uar_cgroup_limits"), "/x 2\n");
	EXPECT_EQ(EXIT_OK, READ("[device mlx5_0]\nbudget = 5\n"
				"[cgroup /x]\nlimit = 3\npolicy = stock\n"));
	budget->hidden = true;
	self->err = -EIO;
	EXPECT_DIFFERENCES("[{\"setting\":\"budget\",\"attribute\":\"uar_budget\",\"now\":null,\"saved\":\"5\",\"line\":2},"
			   "{\"setting\":\"/x\",\"attribute\":\"uar_cgroup_limits\",\"cgroup\":\"/x\",\"now\":\"2\",\"saved\":\"3\",\"line\":4},"
			   "{\"setting\":\"/x\",\"attribute\":\"uuar_cgroups\",\"cgroup\":\"/x\",\"now\":null,\"saved\":\"stock 0 0\",\"line\":5}]",
			   "mlx5_0");
	budget->hidden = false;
	policies->hidden = true;
	EXPECT_DIFFERENCES("[{\"setting\":\"/x\",\"attribute\":\"uar_cgroup_limits\",\"cgroup\":\"/x\",\"now\":\"2\",\"saved\":\"3\",\"line\":4},"
			   "{\"setting\":\"/x\",\"attribute\":\"uuar_cgroups\",\"cgroup\":\"/x\",\"now\":null,\"saved\":\"stock 0 0\",\"line\":5}]",
			   "mlx5_0");
}

TEST_F(settings, of_cgroups_that_differ_are_found)
{
	struct attribute *policies = add_file(DEVICE("uuar_cgroups"),
					      "/x stock 0 0\n/y stock 0 4\n");
	struct attribute *limits = add_file(DEVICE("uar_cgroup_limits"), "/x 3\n");

	add_file(DEVICE("uuar_policy"), "stock\n");
	EXPECT_EQ(EXIT_OK, READ("[cgroup /x]\npolicy = stock\nlimit = 3\n"
				"[cgroup /y]\npolicy = stock\nstrict = on\npages = 4\n"
				"[cgroup /x device mlx5_1]\npolicy = independent\n"
				"[device mlx5_0]\npolicy = stock\n"));
	EXPECT_DIFFERENCES("[{\"setting\":\"/y\",\"attribute\":\"uuar_cgroups\",\"cgroup\":\"/y\",\"now\":\"stock 0 4\",\"saved\":\"stock 1 4\",\"line\":5}]",
			   "mlx5_0");
	strcpy(policies->text, "/y stock 1 4\n");
	strcpy(limits->text, "/x 4\n");
	EXPECT_DIFFERENCES("[{\"setting\":\"/x\",\"attribute\":\"uuar_cgroups\",\"cgroup\":\"/x\",\"now\":null,\"saved\":\"stock 0 0\",\"line\":2},"
			   "{\"setting\":\"/x\",\"attribute\":\"uar_cgroup_limits\",\"cgroup\":\"/x\",\"now\":\"4\",\"saved\":\"3\",\"line\":3}]",
			   "mlx5_0");
	/* What another section says of the device comes before. */
	EXPECT_EQ(EXIT_OK, READ("[cgroup /x]\npolicy = stock\n"
				"[cgroup /x device mlx5_0]\npolicy = independent\n"));
	strcpy(policies->text, "/x independent 0 0\n");
	EXPECT_DIFFERENCES("[]", "mlx5_0");
}

TEST_HARNESS_MAIN
