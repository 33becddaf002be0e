# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# make debug-kernel  build the debug kernel, unless it is there
# make dkms-check    build the module through DKMS for each kernel of the lab
# make module-check  build it with W=1 and sparse for each kernel of the lab
#                    KERNELS='6.1 7.3' chooses kernels of either

.PHONY: debug-kernel dkms-check module-check

debug-kernel: lab
	@$(LAB)/debug-kernel

dkms-check: lab
	@$(LAB)/build-module --dkms --force $(or $(KERNELS),all)

module-check: lab
	@$(LAB)/build-module --check --force $(or $(KERNELS),all)
