#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, timeout: 500, long: yes
#
# Runs cache_allocators_test.sh with a minute for each allocator.
exec "$(dirname "$0")/cache_allocators_test.sh" 60
