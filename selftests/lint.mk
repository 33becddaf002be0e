# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What a reviewer would say first: checkpatch (the kernel's own), shellcheck,
# and the house rules that a grep can check. One report per file that has one.
# build/lint/PART is as old as the last clean look at PART: what has not changed
# since then is not looked at again.

LINT_KERNEL_SRC := $(shell . lab/lib.sh && echo "$$lab_dir")/source
LINT_FILES := find kernel uapi userlib selftests lab simhca workloads packaging findings \
	Documentation .ci Kbuild Makefile -type f

comma := ,
empty :=
join-list = $(subst $(empty) ,$(comma),$(strip $(1)))

# COMPLEX_MACRO is said of lists that another macro is applied to.
LINT_IGNORE := FILE_PATH_CHANGES SPDX_LICENSE_TAG NEW_TYPEDEFS CONST_STRUCT \
	CONSTANT_COMPARISON UNNECESSARY_CASTS COMPLEX_MACRO

# What is said of kernel code only.
LINT_USER_IGNORE := $(LINT_IGNORE) PREFER_KERNEL_TYPES BRACKET_SPACE VOLATILE \
	CAMELCASE SPLIT_STRING MACRO_ARG_REUSE AVOID_EXTERNS USE_FUNC \
	PREFER_DEFINED_ATTRIBUTE_MACRO STRCPY ARRAY_SIZE EMBEDDED_FUNCTION_NAME \
	MACRO_WITH_FLOW_CONTROL FUNCTION_ARGUMENTS \
	MULTISTATEMENT_MACRO_USE_DO_WHILE ALLOC_WITH_SIZEOF SPACING \
	MACRO_ARG_UNUSED

# $(call lint-newer,PART): for find, files that have changed
lint-newer = $(if $(wildcard build/lint/$(1)),-newer build/lint/$(1))

# $(call lint-begin,PART), $(call lint-clean,PART): around a look at PART
lint-begin = mkdir -p build/lint && touch build/lint/$(1).new
lint-clean = mv build/lint/$(1).new build/lint/$(1)

LINT_SHELL := '^(\#!.*\b(ba)?sh$$|\# shellcheck shell=)'

# Parts whose table of layers in Documentation/internals.md is compared with the
# objects; those are built first.
LINT_LAYERS := kernel simhca library ucx tool
LINT_MODULE_KERNEL := 7.2

.PHONY: lint lint-kernel lint-user lint-shell lint-rules lint-layers lint-module \
	lint-house

lint: lint-kernel lint-user lint-shell lint-rules lint-layers lint-house
	@echo 'lint: clean'

lint-kernel:
	@$(call lint-begin,kernel)
	@find kernel uapi -name '*.[ch]' $(call lint-newer,kernel) | xargs -r perl \
		$(LINT_KERNEL_SRC)/scripts/checkpatch.pl --no-tree --no-summary \
		--terse --ignore $(call join-list,$(LINT_IGNORE)) -f
	@$(call lint-clean,kernel)

lint-user:
	@$(call lint-begin,user)
	@find userlib selftests simhca workloads -name '*.[ch]' $(call lint-newer,user) | xargs -r perl \
		$(LINT_KERNEL_SRC)/scripts/checkpatch.pl --no-tree --no-summary \
		--terse --ignore $(call join-list,$(LINT_USER_IGNORE)) -f
	@$(call lint-clean,user)

# Of what shellcheck only remarks on, SC2251 counts: a line that begins with "!" fails no
# check, because set -e passes over it. These are the other remarks:
LINT_SHELL_REMARKS := SC1001,SC2012,SC2013,SC2015,SC2016,SC2018,SC2019,SC2020,SC2031,SC2035,SC2059,SC2086,SC2094,SC2119,SC2153,SC2231,SC2317

# A script is judged together with those that it reads: all, or none.
lint-shell:
	@$(call lint-begin,shell)
	@[ -z "$$($(LINT_FILES) $(call lint-newer,shell) -print -quit)" ] || \
		$(LINT_FILES) | xargs -r grep -lE $(LINT_SHELL) | \
		xargs -r shellcheck -S info -e $(LINT_SHELL_REMARKS) -x -P SCRIPTDIR
	@$(call lint-clean,shell)

lint-rules:
	@! find kernel -name '*.[ch]' ! -path 'kernel/compat/*' | \
		xargs -r grep -nE 'LINUX_VERSION_CODE|KERNEL_VERSION\(|HAVE_[A-Z]'
	@selftests/lint/prototypes
	@! $(LINT_FILES) ! -name lint.mk | \
		xargs -r grep -nE '\b(TODO|FIXME|XXX|HACK)\b|#if 0'
	@! $(LINT_FILES) -name '*.[ch]' | xargs -r wc -l | \
		awk '$$2 != "total" && $$1 > 800' | grep .
	@[ "$$(cat Documentation/*.md | wc -w)" -le 30000 ] || \
		{ echo 'Documentation/*.md: more than 30000 words'; false; }

# Quick enough to look at all of them each time.
lint-house:
	@selftests/lint/dead
	@selftests/lint/i386
	@selftests/lint/kdoc
	@selftests/lint/words
	@selftests/lint/names
	@selftests/lint/pages
	@selftests/lint/others
	@selftests/lint/sizes
	@selftests/lint/syzlang
	@selftests/lint/fuzz
	@selftests/runner/tiers
	@packaging/linux-tree/linux-tree --rules

# A make of its own, which is not told that it is inside the lab.
lint-module:
	@env -u IN_LAB -u MAKEFLAGS -u MFLAGS lab/build-module \
		$(LINT_MODULE_KERNEL) >/dev/null

lint-layers: hca lib lint-module
	@$(if $(LINT_LAYERS),selftests/lint/layers $(LINT_LAYERS))
