# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# make debug-kernel  build the debug kernel, or nothing where it is there
# make dkms-check    build through DKMS for every kernel of the lab
# make module-check  W=1 and sparse for every kernel of the lab

.PHONY: debug-kernel dkms-check module-check

debug-kernel: lab
	@$(LAB)/debug-kernel

dkms-check: lab
	@$(LAB)/build-module --dkms --force all

module-check: lab
	@$(LAB)/build-module --check --force all
