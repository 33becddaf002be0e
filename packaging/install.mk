# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# make install       [PREFIX=/usr/local] [LIBDIR=PREFIX/lib] [DESTDIR=]   everything
#                    [DOCDIR=PREFIX/share/doc/mlx5ep]
# make install-lib   library, headers, tool, pages, completion, and what mlx5ep
#                    bench starts
# make install-dkms  the sources of the module, which DKMS builds for the running
#                    kernel and for each new one; modprobe.d
# make uninstall     removes what make install installed, which it has written down in
#                    DESTDIR/var/lib/mlx5_ep/installed; a package leaves that file out
# make deb           Debian packages, built in the lab, into build/deb/
# make rpm           RPM packages, built by this machine's rpmbuild, into
#                    build/rpm/; KERNEL=RELEASE (or the folder of a built tree, or
#                    several): also kmod-mlx5_ep-RELEASE, the module compiled for
#                    that kernel; SIGN_KEY=FILE SIGN_CERT=FILE: and signed
# make rpm-check     builds the RPM packages in the lab, and checks what is in them
# make linux-tree    puts the module into the Linux tree LINUX, as a series of commits;
#                    LOAD=1 tests it in the lab on Debian's kernel of that series,
#                    BOOT=1 on a kernel that is built of LINUX; both can be given
#
# With DESTDIR, DKMS is not called: a package does that when it is installed.
# BUILD_VERSION names this build; packaging/version says how.

PREFIX ?= /usr/local
DESTDIR ?=
LIBDIR ?= $(PREFIX)/lib
DOCDIR ?= $(PREFIX)/share/doc/mlx5ep
BUILD_VERSION ?= $(shell packaging/version)
host := build/host

.PHONY: install install-lib install-dkms dkms-source uninstall lib-ready lib-built \
	dkms-ready deb rpm rpm-check linux-tree

# The version is asked for once, before the build changes anything.
install install-lib install-dkms dkms-source uninstall deb rpm: \
	override BUILD_VERSION := $(BUILD_VERSION)

places = DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' DOCDIR='$(DOCDIR)'
packaging_install = $(places) BUILD_VERSION='$(BUILD_VERSION)' packaging/install

# Files that packages have too: each of their packages has one of these. PREFIX may be /usr.
lib_files = '$(PREFIX)/bin/mlx5ep' '$(PREFIX)/include/mlx5ep.h' \
	'$(LIBDIR)/libmlx5ep.so.0' '$(LIBDIR)/libmlx5ep-fi.so.0' \
	'$(LIBDIR)/libmlx5ep-ucx.so.0' /usr/lib/modprobe.d/mlx5ep.conf \
	/usr/lib/udev/rules.d/90-mlx5ep.rules
conffiles = /etc/mlx5ep.conf /etc/modprobe.d/mlx5_ep.conf
dkms_files = /usr/lib/mlx5_ep/renew-initramfs \
	$(wildcard /usr/src/mlx5_ep-*/dkms.conf)

# All checks come before the first file is written, also with -j.
install: lib-ready dkms-ready
	$(MAKE) --no-print-directory BUILD_VERSION='$(BUILD_VERSION)' lib-built
	$(packaging_install) lib dkms-source
	$(after_lib)
	$(after_dkms)

# This machine's own tool chain compiles the library, not the lab's.
lib-ready:
	@for tool in $(CC) pkg-config; do \
		command -v $$tool >/dev/null || { \
		echo "make install: $$tool is missing: apt install build-essential pkg-config (dnf install gcc pkgconf)"; \
		exit 1; }; done
	@pkg-config --exists libibverbs libmlx5 json-c libnl-3.0 || { \
		echo 'make install: headers are missing: apt install libibverbs-dev libjson-c-dev libnl-3-dev (dnf install rdma-core-devel json-c-devel libnl3-devel)'; \
		exit 1; }
	@test -n '$(DESTDIR)' || packaging/refuse-owned 'make install' $(lib_files)

dkms-ready:
	@test -n '$(DESTDIR)' || command -v dkms >/dev/null || { \
		echo 'make install: dkms is missing: apt install dkms linux-headers-$$(uname -r) (dnf install dkms kernel-devel-$$(uname -r))'; \
		exit 1; }
	@test -n '$(DESTDIR)' || packaging/refuse-owned 'make install' $(dkms_files)
	@$(places) packaging/installed may-put '$(BUILD_VERSION)'

lib-built: lib-ready
	$(MAKE) --no-print-directory IN_LAB=1 LIB_OUT=$(host) \
		LIB_VERSION='$(BUILD_VERSION)' \
		CFLAGS='-Wno-error $(CFLAGS)' lib bench-programs

install-lib: lib-built
	$(packaging_install) lib
	$(after_lib)

dkms-source: dkms-ready
	$(packaging_install) dkms-source

install-dkms: dkms-source
	$(after_dkms)

define after_lib
test -n '$(DESTDIR)' || ldconfig
endef

define after_dkms
test -n '$(DESTDIR)' || $(places) packaging/dkms-install '$(BUILD_VERSION)'
test -n '$(DESTDIR)' || packaging/renew-initramfs
@test -n '$(DESTDIR)' || printf '%s\n' \
	'The module is loaded before mlx5_ib at the next boot. Now, for policies and' \
	'limits, and nothing that runs ends: modprobe mlx5_ep'
endef

uninstall:
	@test -n '$(DESTDIR)' || $(places) packaging/installed files | \
		xargs -d '\n' packaging/refuse-owned 'make uninstall' \
		$(lib_files) $(dkms_files) $(conffiles)
	test -n '$(DESTDIR)' || ! command -v dkms >/dev/null || \
		$(places) packaging/dkms-install --remove
	$(places) packaging/installed remove
	$(after_lib)
	test -n '$(DESTDIR)' || packaging/renew-initramfs

deb: lab
	@$(ENTER) packaging/debian/build '$(BUILD_VERSION)'

rpm:
	@packaging/rpm/build $(foreach kernel,$(KERNEL),--kernel '$(kernel)') \
		$(if $(SIGN_KEY)$(SIGN_CERT),--sign '$(SIGN_KEY)' '$(SIGN_CERT)')

rpm-check: lab
	@$(ENTER) packaging/rpm/check

# Run by this machine's git and compiler, as the tree itself is.
linux-tree:
	@test -n '$(LINUX)' || { echo 'make linux-tree: LINUX=DIR names a Linux' \
		'tree with git; packaging/linux-tree/linux-tree --help says more'; exit 2; }
	@packaging/linux-tree/linux-tree $(if $(LOAD),--load) $(if $(BOOT),--boot) '$(LINUX)'
