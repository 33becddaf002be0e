# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# make modules KDIR=...       build/modules/<release>/mlx5_ep.ko, and the modules
#                             of selftests/modules
# make modules-lint KDIR=...  the same with W=1 and sparse; any warning fails.
#                             Parameters that need no words are left out of
#                             kernel-doc comments: that one warning of old
#                             kernels does not count.
#
# KMODULES=FOLDER names the modules of that kernel, where KDIR does not lead to them.
#
# The objects of each kernel live in a folder of their own, a farm of links to
# the sources, so that builds for several kernels stand side by side. So do those of
# INSTRUMENT=kcov and INSTRUMENT=gcov, in build/modules-kcov/ and build/modules-gcov/:
# modules for the debug kernel that record which code ran. ALONE=1 leaves out the modules
# of the tests.

KDIR ?= /lib/modules/$(shell uname -r)/build
KRELEASE = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' \
	$(KDIR)/include/generated/utsrelease.h)
MODULE_BUILD = build/modules$(INSTRUMENT:%=-%)/$(KRELEASE)
MODULE_INSTRUMENT_kcov := KCOV_INSTRUMENT=y
MODULE_INSTRUMENT_gcov := GCOV_PROFILE=y
MODULE_MAKE = $(MAKE) --no-print-directory -C '$(KDIR)' \
	M='$(CURDIR)/$(MODULE_BUILD)' $(if $(ALONE),,MLX5_EP_TEST_MODULES=1) \
	$(MODULE_INSTRUMENT_$(INSTRUMENT)) \
	$(if $(KMODULES),MLX5_EP_KMODULES='$(KMODULES)')

.PHONY: modules modules-lint modules-farm

modules-farm:
	@test -n '$(KRELEASE)' || { echo 'make modules: no kernel in KDIR=$(KDIR)'; exit 1; }
	@mkdir -p '$(MODULE_BUILD)'
	@find '$(MODULE_BUILD)' -xtype l -delete
	@cp -rsf '$(CURDIR)/Kbuild' '$(CURDIR)/VERSION' '$(CURDIR)/kernel' '$(CURDIR)/uapi' '$(MODULE_BUILD)/'
	@mkdir -p '$(MODULE_BUILD)/selftests'
	@cp -rsf '$(CURDIR)/selftests/modules' '$(MODULE_BUILD)/selftests/'

modules: modules-farm
	@$(MODULE_MAKE) modules

# Kbuild asks a script of its tree before it calls sparse (C=2). Debian's headers of 7.x lack
# the script, and Kbuild goes on without sparse; KBUILD_CHECKSRC on the command line makes it
# call sparse all the same. sparse 0.6.4 does not know two words of these headers.
MODULE_CHECK = KBUILD_CHECKSRC=2 CF="-D__CHECK_ENDIAN__ \
	-D__typeof_unqual__=__typeof__ '-D__builtin_strlen(s)=(sizeof(s)-1)'"

# A file that sparse did not look at is a failure. Those of MODULE_UNCHECKED are made by Kbuild.
MODULE_UNCHECKED := \.mod\.o$$|\.module-common\.o$$

modules-lint: modules-farm
	@$(MODULE_MAKE) clean
	@$(MODULE_MAKE) W=1 $(MODULE_CHECK) modules \
		>'$(MODULE_BUILD)/check.log' 2>&1 || { cat '$(MODULE_BUILD)/check.log'; exit 1; }
	@! grep -E 'warning|error' '$(MODULE_BUILD)/check.log' | \
		grep -v "Function parameter or member .* not described in"
	@compiled=$$(grep -E '^ +CC \[M\] ' '$(MODULE_BUILD)/check.log' | \
		grep -vcE '$(MODULE_UNCHECKED)'); \
	checked=$$(grep -cE '^ +CHECK +' '$(MODULE_BUILD)/check.log'); \
	[ "$$checked" -gt 0 ] && [ "$$checked" = "$$compiled" ] || { \
		echo "modules-lint: sparse looked at $$checked of $$compiled files;" \
			"$(MODULE_BUILD)/check.log has the reason" >&2; exit 1; }
