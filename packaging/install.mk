# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# make install       [PREFIX=/usr/local] [LIBDIR=PREFIX/lib] [DESTDIR=]   everything
# make install-lib   library, headers, tool, manual pages, completion
# make install-dkms  the module's sources, built by DKMS for the running kernel
#                    and for each that comes; modprobe.d
# make uninstall     all of it away again
# make deb           Debian packages of it, built in the lab, into build/deb/
# make rpm           RPM packages of it, built by this machine's rpmbuild, into
#                    build/rpm/
# make rpm-check     builds them and looks into them
#
# With DESTDIR, DKMS is not called: a package does that when it is installed.

PREFIX ?= /usr/local
DESTDIR ?=
VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
LIBDIR ?= $(PREFIX)/lib
mandir := $(PREFIX)/share/man
completions := $(PREFIX)/share/bash-completion/completions
host := build/host
dkms_src := /usr/src/mlx5_ep-$(VERSION)

.PHONY: install install-lib install-dkms uninstall tools-check dkms-tool-check \
	deb rpm rpm-check

install: install-lib install-dkms

# The library is compiled by this machine's own tool chain, not by the lab's.
tools-check:
	@for tool in $(CC) pkg-config; do \
		command -v $$tool >/dev/null || { \
		echo "make install: $$tool is missing: apt install build-essential pkg-config (dnf install gcc pkgconf)"; \
		exit 1; }; done
	@pkg-config --exists libibverbs libmlx5 json-c || { \
		echo 'make install: headers are missing: apt install libibverbs-dev libjson-c-dev (dnf install rdma-core-devel json-c-devel)'; \
		exit 1; }

dkms-tool-check:
	@test -n '$(DESTDIR)' || command -v dkms >/dev/null || { \
		echo 'make install: dkms is missing: apt install dkms linux-headers-$$(uname -r) (dnf install dkms kernel-devel)'; \
		exit 1; }

install-lib: tools-check
	$(MAKE) --no-print-directory IN_LAB=1 LIB_OUT=$(host) \
		CFLAGS='-Wno-error $(CFLAGS)' lib
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(PREFIX)/bin \
		$(DESTDIR)$(PREFIX)/include/mlx5ep \
		$(DESTDIR)$(PREFIX)/include/rdma $(DESTDIR)$(completions) \
		$(DESTDIR)$(mandir)/man3 $(DESTDIR)$(mandir)/man8
	install -m 755 $(host)/lib/libmlx5ep*.so.0 $(DESTDIR)$(LIBDIR)/
	cp -P $(host)/lib/libmlx5ep*.so $(DESTDIR)$(LIBDIR)/
	install -m 644 $(host)/lib/libmlx5ep.a $(DESTDIR)$(LIBDIR)/
	for pc in $(host)/lib/pkgconfig/mlx5ep*.pc; do \
		sed -e 's|^prefix=.*|prefix=$(PREFIX)|' \
			-e 's|^libdir=.*|libdir=$(LIBDIR)|' $$pc \
			>$(DESTDIR)$(LIBDIR)/pkgconfig/$${pc##*/}; done
	install -m 644 userlib/include/mlx5ep.h $(DESTDIR)$(PREFIX)/include/
	install -m 644 userlib/include/mlx5ep/*.h \
		$(DESTDIR)$(PREFIX)/include/mlx5ep/
	install -m 644 uapi/rdma/*.h $(DESTDIR)$(PREFIX)/include/rdma/
	install -m 755 $(host)/bin/mlx5ep $(DESTDIR)$(PREFIX)/bin/
	install -m 644 userlib/man/*.3 $(DESTDIR)$(mandir)/man3/
	install -m 644 userlib/man/*.8 $(DESTDIR)$(mandir)/man8/
	@# a page for each call, which leads to the one that has it
	for page in userlib/man/*.3; do \
		for name in $$(sed -n '/^\.SH NAME/,/\\-/p' $$page | \
				tr ', ' '\n\n' | grep '^mlx5ep_'); do \
			[ -e userlib/man/$$name.3 ] || \
				echo ".so man3/$${page##*/}" \
				>$(DESTDIR)$(mandir)/man3/$$name.3; \
		done; \
	done
	install -m 644 userlib/cli/mlx5ep.bash \
		$(DESTDIR)$(completions)/mlx5ep
	@pkg-config --exists libfabric || \
		echo 'Without libmlx5ep-fi: libfabric-dev (libfabric-devel) is missing'
	test -n '$(DESTDIR)' || ldconfig

install-dkms: dkms-tool-check
	install -d $(DESTDIR)$(dkms_src) $(DESTDIR)/etc/modprobe.d
	cp -r Kbuild dkms.conf COPYING LICENSES kernel uapi \
		$(DESTDIR)$(dkms_src)/
	install -m 644 packaging/mlx5_ep.conf $(DESTDIR)/etc/modprobe.d/
	test -n '$(DESTDIR)' || dkms install --force mlx5_ep/$(VERSION)
	@test -n '$(DESTDIR)' || echo 'Loaded in front of mlx5_ib from the next' \
		'boot on, or after: modprobe -r mlx5_ib && modprobe mlx5_ib'

uninstall:
	test -n '$(DESTDIR)' || dkms remove --all mlx5_ep/$(VERSION) || :
	rm -rf $(DESTDIR)$(dkms_src) $(DESTDIR)$(PREFIX)/include/mlx5ep
	rm -f $(DESTDIR)/etc/modprobe.d/mlx5_ep.conf \
		$(DESTDIR)$(LIBDIR)/libmlx5ep.* \
		$(DESTDIR)$(LIBDIR)/libmlx5ep-fi.* \
		$(DESTDIR)$(LIBDIR)/pkgconfig/mlx5ep.pc \
		$(DESTDIR)$(LIBDIR)/pkgconfig/mlx5ep-fi.pc \
		$(DESTDIR)$(PREFIX)/include/mlx5ep.h \
		$(DESTDIR)$(PREFIX)/include/rdma/mlx5_ep_*.h \
		$(DESTDIR)$(PREFIX)/bin/mlx5ep \
		$(DESTDIR)$(mandir)/man3/mlx5ep_* \
		$(DESTDIR)$(mandir)/man8/mlx5ep.8 \
		$(DESTDIR)$(completions)/mlx5ep

deb: lab
	@$(ENTER) packaging/debian/build

rpm:
	@packaging/rpm/build

rpm-check:
	@packaging/rpm/check
