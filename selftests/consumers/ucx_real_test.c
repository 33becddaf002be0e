// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * How libmlx5ep-ucx knows UCX's protocol library, with ucx_real.c compiled into this program
 * and with a loader that is made up: by its name, by what it imports, by its version, and
 * by the addresses of its text.
 */
#include "kselftest_harness.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/wait.h>

static void *fake_dlsym(void *handle, const char *name);
static int fake_dladdr(const void *address, Dl_info *info);
static void *fake_dlopen(const char *name, int flags);
static int fake_dlclose(void *handle);
static int fake_iterate(int (*each)(struct dl_phdr_info *info, size_t size, void *arg),
			void *arg);

#define dlsym fake_dlsym
#define dladdr fake_dladdr
#define dlopen fake_dlopen
#define dlclose fake_dlclose
#define dl_iterate_phdr fake_iterate
#include "../../userlib/ucx/ucx_real.c"
#undef dlsym
#undef dladdr
#undef dlopen
#undef dlclose
#undef dl_iterate_phdr

#define ENTRIES	3
#define LOAD	0x10000ul

static struct {
	void *next, *of_handle;		/* what dlsym() finds there */
	bool no_library, no_handle;
	void *ours;			/* an address in this library */
	const char *caller;		/* its file; NULL: "caller" */
	int handles, kept;
	unsigned int major, minor;

	const char *name;
	uintptr_t load;			/* where the library is; LOAD: below its tables */
	bool no_dynamic;
	Elf64_Dyn dynamic[8];
	Elf64_Sym symbols[2];
	char names[64];
	Elf64_Rela entries[2][ENTRIES + 1];
} fake;

static void *fake_dlsym(void *handle, const char *name)
{
	if (handle == RTLD_NEXT)
		return fake.next;
	return handle == &fake ? fake.of_handle : NULL;
}

static int fake_dladdr(const void *address, Dl_info *info)
{
	info->dli_fbase = address == &here || address == fake.ours ? &fake : NULL;
	info->dli_fname = fake.caller ? fake.caller : "caller";
	return !fake.no_library;
}

static void *fake_dlopen(const char *name, int flags)
{
	if (fake.no_handle || strcmp(name, "caller") ||
	    (flags & ~RTLD_NODELETE) != (RTLD_LAZY | RTLD_NOLOAD))
		return NULL;
	fake.handles++;
	fake.kept += !!(flags & RTLD_NODELETE);
	return &fake;
}

static int fake_dlclose(void *handle)
{
	fake.handles--;
	return 0;
}

/* Two parts of text, and one of another kind behind them. */
static int fake_iterate(int (*each)(struct dl_phdr_info *info, size_t size, void *arg),
			void *arg)
{
	const ElfW(Phdr) parts[] = {
		{ .p_type = PT_LOAD, .p_vaddr = 0x3000, .p_memsz = 0x1000 },
		{ .p_type = PT_LOAD, .p_vaddr = 0x1000, .p_memsz = 0x1000 },
		{ .p_type = PT_NOTE, .p_vaddr = 0, .p_memsz = 0x9000 },
		{
			.p_type = fake.no_dynamic ? PT_NULL : PT_DYNAMIC,
			.p_vaddr = (uintptr_t)fake.dynamic - fake.load,
		},
	};
	struct dl_phdr_info info = {
		.dlpi_name = fake.name, .dlpi_addr = fake.load,
		.dlpi_phdr = parts, .dlpi_phnum = 4,
	};

	return each(&info, sizeof(info), arg);
}

static void tell_version(unsigned int *major, unsigned int *minor, unsigned int *release)
{
	*major = fake.major;
	*minor = fake.minor;
	*release = 99;
}

FIXTURE(real)
{
};

/* A library that imports another function by each entry. */
FIXTURE_SETUP(real)
{
	const ElfW(Dyn) dynamic[8] = {
		{ DT_SYMTAB, { (uintptr_t)fake.symbols } },
		{ DT_STRTAB, { (uintptr_t)fake.names } },
		{ DT_JMPREL, { (uintptr_t)fake.entries[0] } },
		{ DT_PLTRELSZ, { ENTRIES * sizeof(fake.entries[0][0]) } },
		{ DT_RELA, { (uintptr_t)fake.entries[1] } },
		{ DT_RELASZ, { ENTRIES * sizeof(fake.entries[0][0]) } },
		{ DT_NULL, { 0 } },
	};

	memcpy(fake.dynamic, dynamic, sizeof(dynamic));
	strcpy(fake.names, "other");
	strcpy(fake.names + 8, "ucs_pgtable_lookup");
	fake.symbols[1].st_name = 8;
	fake.name = "/usr/lib/libucp.so.0";
	fake.load = LOAD;
}

FIXTURE_TEARDOWN(real)
{
	EXPECT_EQ(0, fake.handles);
}

static void import(int list, int entry)
{
	memset(fake.entries, 0, sizeof(fake.entries));
	fake.entries[list][entry].r_info = ELF64_R_INFO(1ul, 0);
}

TEST_F(real, is_the_next_function_or_that_of_the_caller)
{
	fake.next = &self;
	EXPECT_EQ(&self, ucx_real("f", NULL));
	EXPECT_EQ(1, fake.kept);
	fake.next = NULL;
	fake.of_handle = &fake.of_handle;
	EXPECT_EQ(&fake.of_handle, ucx_real("f", NULL));
	/* Where the caller sees this library only, that would call itself for ever. */
	fake.ours = &fake.of_handle;
	EXPECT_EQ(NULL, find("f", NULL));
	fake.ours = NULL;
	fake.no_handle = true;
	EXPECT_EQ(NULL, find("f", NULL));
	fake.no_handle = false;
	fake.no_library = true;
	EXPECT_EQ(NULL, find("f", NULL));
}

TEST_F(real, ends_a_program_without_the_function)
{
	int status;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		close(2);
		ucx_real("f", NULL);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

/* A plugin that has loaded it may be closed. */
TEST_F(real, stays_once_it_asks_us)
{
	EXPECT_FALSE(ucx_real_asks_us());
	EXPECT_EQ(0, fake.kept);
	import(0, 0);
	EXPECT_TRUE(ucx_real_asks_us());
	EXPECT_EQ(1, fake.kept);
	fake.no_handle = true;
	EXPECT_FALSE(ucx_real_asks_us());
	fake.no_handle = false;
	fake.no_library = true;
	EXPECT_FALSE(ucx_real_asks_us());
}

/* Some loaders leave the addresses in the tables as they are in the file. */
TEST_F(real, asks_us_also_if_its_tables_are_as_in_its_file)
{
	int i;

	fake.load = (uintptr_t)&fake;
	for (i = 0; i < 6; i++)
		if (fake.dynamic[i].d_tag != DT_PLTRELSZ &&
		    fake.dynamic[i].d_tag != DT_RELASZ)
			fake.dynamic[i].d_un.d_ptr -= fake.load;
	EXPECT_FALSE(ucx_real_asks_us());
	import(1, 0);
	EXPECT_TRUE(ucx_real_asks_us());
}

TEST_F(real, asks_us_if_it_imports_the_lookup)
{
	int list, entry;

	EXPECT_FALSE(ucx_real_asks_us());
	for (list = 0; list < 2; list++) {
		for (entry = 0; entry < ENTRIES; entry++) {
			import(list, entry);
			EXPECT_TRUE(ucx_real_asks_us());
		}
		/* What is behind the list is none of it. */
		import(list, ENTRIES);
		EXPECT_FALSE(ucx_real_asks_us());
	}
	import(0, 0);
	fake.name = "libucp.so";
	EXPECT_TRUE(ucx_real_asks_us());
	fake.name = "/libucp/libuct.so";
	EXPECT_FALSE(ucx_real_asks_us());
	fake.name = "libucp.so";
	fake.no_dynamic = true;
	EXPECT_FALSE(ucx_real_asks_us());
}

TEST_F(real, may_lack_parts_of_its_tables)
{
	int i;

	for (i = 0; i < 6; i++) {
		import(i < 4 ? 0 : 1, 0);
		EXPECT_TRUE(ucx_real_asks_us());
		fake.dynamic[i].d_tag = DT_NEEDED;
		EXPECT_FALSE(ucx_real_asks_us());
		real_setup(_metadata, self, NULL);
	}
	/* Nothing behind the end is read. */
	import(0, 0);
	fake.dynamic[6] = fake.dynamic[0];
	fake.dynamic[0].d_tag = DT_NULL;
	EXPECT_FALSE(ucx_real_asks_us());
}

TEST_F(real, has_its_addresses)
{
	EXPECT_FALSE(ucx_real_from_ucp((void *)(LOAD + 0x1000)));
	EXPECT_FALSE(ucx_real_from_ucp(NULL));
	import(0, 0);
	ASSERT_TRUE(ucx_real_asks_us());
	EXPECT_TRUE(ucx_real_from_ucp((void *)(LOAD + 0x1000)));
	EXPECT_FALSE(ucx_real_from_ucp((void *)(LOAD + 0x0fff)));
	EXPECT_TRUE(ucx_real_from_ucp((void *)(LOAD + 0x3fff)));
	EXPECT_FALSE(ucx_real_from_ucp((void *)(LOAD + 0x4000)));
}

TEST_F(real, tells_its_version_or_none)
{
	EXPECT_EQ(0, ucx_real_version());
	fake.next = tell_version;
	fake.major = 1;
	fake.minor = 16;
	EXPECT_EQ(UCX_VERSION(1, 16), ucx_real_version());
	EXPECT_GT(UCX_OLDEST, ucx_real_version());
	fake.minor = 123;
	EXPECT_EQ(UCX_VERSION(1, 123), ucx_real_version());
	EXPECT_LT(UCX_NEWEST, ucx_real_version());
	fake.major = 2;
	fake.minor = 0;
	EXPECT_LT(UCX_NEWEST, ucx_real_version());
}

/* The loader has put the address of another function where the lookup is called. */
TEST_F(real, is_bypassed_if_its_lookups_go_elsewhere)
{
	uintptr_t to = 0;

	EXPECT_FALSE(ucx_real_is_bypassed(&fake));
	import(0, 1);
	fake.entries[0][1].r_offset = (uintptr_t)&to - LOAD;
	EXPECT_FALSE(ucx_real_is_bypassed(&fake));
	/* Before the first call that is code of the library itself. */
	to = LOAD + 0x1234;
	EXPECT_FALSE(ucx_real_is_bypassed(&fake));
	to = (uintptr_t)&fake;
	EXPECT_FALSE(ucx_real_is_bypassed(&fake));
	to = (uintptr_t)&self;
	EXPECT_TRUE(ucx_real_is_bypassed(&fake));
}

TEST_F(real, knows_who_is_a_transport)
{
	fake.caller = "/usr/lib/ucx/libuct_ib.so.0";
	EXPECT_TRUE(ucx_real_is_transport(&fake));
	fake.caller = "libuct_ib_mlx5.so";
	EXPECT_TRUE(ucx_real_is_transport(&fake));
	fake.caller = "/usr/lib/libuct/program";
	EXPECT_FALSE(ucx_real_is_transport(&fake));
	fake.caller = "/usr/lib/ucx/libuct_ib.so.0";
	fake.no_library = true;
	EXPECT_FALSE(ucx_real_is_transport(&fake));
}

TEST_HARNESS_MAIN
