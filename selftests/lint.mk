# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What a reviewer would say first: checkpatch (the kernel's own), shellcheck,
# and the house rules that a grep can check. One report per file that has one.

LINT_KERNEL_SRC := $(shell . selftests/lab/lib.sh && echo "$$lab_dir")/source
LINT_FILES := find kernel uapi userlib selftests packaging Kbuild Makefile -type f

comma := ,
empty :=
join-list = $(subst $(empty) ,$(comma),$(strip $(1)))

LINT_IGNORE := FILE_PATH_CHANGES SPDX_LICENSE_TAG NEW_TYPEDEFS CONST_STRUCT \
	CONSTANT_COMPARISON UNNECESSARY_CASTS

# What is said of kernel code only.
LINT_USER_IGNORE := $(LINT_IGNORE) PREFER_KERNEL_TYPES BRACKET_SPACE VOLATILE \
	CAMELCASE SPLIT_STRING MACRO_ARG_REUSE AVOID_EXTERNS USE_FUNC \
	PREFER_DEFINED_ATTRIBUTE_MACRO STRCPY ARRAY_SIZE EMBEDDED_FUNCTION_NAME \
	MACRO_WITH_FLOW_CONTROL COMPLEX_MACRO FUNCTION_ARGUMENTS \
	MULTISTATEMENT_MACRO_USE_DO_WHILE ALLOC_WITH_SIZEOF SPACING

.PHONY: lint lint-kernel lint-user lint-shell lint-rules

lint: lint-kernel lint-user lint-shell lint-rules
	@echo 'lint: clean'

lint-kernel:
	@find kernel uapi -name '*.[ch]' | xargs -r perl \
		$(LINT_KERNEL_SRC)/scripts/checkpatch.pl --no-tree --no-summary \
		--terse --ignore $(call join-list,$(LINT_IGNORE)) -f

lint-user:
	@find userlib selftests -name '*.[ch]' | xargs -r perl \
		$(LINT_KERNEL_SRC)/scripts/checkpatch.pl --no-tree --no-summary \
		--terse --ignore $(call join-list,$(LINT_USER_IGNORE)) -f

lint-shell:
	@$(LINT_FILES) | xargs -r grep -lE '^#!.*\b(ba)?sh$$' | \
		xargs -r shellcheck -S warning -x -P SCRIPTDIR

lint-rules:
	@! find kernel -name '*.[ch]' ! -path 'kernel/compat/*' | \
		xargs -r grep -nE 'LINUX_VERSION_CODE|KERNEL_VERSION\(|HAVE_[A-Z]'
	@! $(LINT_FILES) ! -name lint.mk | \
		xargs -r grep -nE '\b(TODO|FIXME|XXX|HACK)\b|#if 0'
	@! $(LINT_FILES) -name '*.[ch]' | xargs -r wc -l | \
		awk '$$2 != "total" && $$1 > 800' | grep .
