# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The top of the tree. Each part keeps its rules beside its code, in a fragment
# that is read inside the lab's root file system only: that is where the tool
# chains and libraries are, so the host needs nothing but bash, make and apt.
# Everything that is built goes to build/.

LAB := selftests/lab
ENTER := $(LAB)/enter
PARTS := hca lib selftests lint
JOBS := $(shell nproc)

.PHONY: help demo check check-long check-peers bench lab $(PARTS) all clean

help:
	@echo 'make demo           boot a stock kernel on a simulated HCA and show where'
	@echo '                    each QP lands under each policy'
	@echo 'make check          run the tests    [TESTS=pattern] [KERNELS="6.12 7.2"|all]'
	@echo '                                     [DEBUG_TESTS=pattern]'
	@echo 'make check-long     the same, the long tests and the data races too'
	@echo 'make check-peers    rdma-core'"'"'s tests and perftest, module absent and'
	@echo '                    under each policy, compared        [KERNELS=7.2]'
	@echo 'make bench          measure, one line per figure'
	@echo 'make all            build module, library, tool, tests and simhca'
	@echo 'make hca            build simhca, the simulated HCA'
	@echo 'make lib            build library and tool'
	@echo 'make selftests      build tests, workloads and benchmarks'
	@echo 'make modules        build the module         KDIR=/lib/modules/.../build'
	@echo 'make dkms-check     build it through DKMS for every kernel of the lab'
	@echo 'make module-check   build it with W=1 and sparse for every kernel'
	@echo 'make debug-kernel   build the debug kernel of the lab'
	@echo 'make lint           checkpatch, shellcheck, the house rules'
	@echo 'make install        DKMS, library, tool, modprobe configuration'
	@echo 'make uninstall      all of that away again'
	@echo 'make deb, make rpm  packages of all that'
	@echo 'make rpm-check      build the RPM packages and look into them'
	@echo 'make lab            set up the lab (the others do so by themselves)'
	@echo 'make clean          remove build/, keep the lab'

ifdef IN_LAB

-include selftests/hca/hca.mk
-include userlib/userlib.mk
-include selftests/selftests.mk
-include selftests/lint.mk

else

lab:
	@$(LAB)/setup

$(PARTS): lab
	@$(ENTER) $(MAKE) --no-print-directory -j$(JOBS) IN_LAB=1 $@

all: hca lib selftests
	@$(LAB)/build-module all

demo: hca lib selftests
	@selftests/demo

check: hca lib selftests
	@selftests/run $(if $(TESTS),--tests '$(TESTS)') \
		$(if $(KERNELS),--kernels '$(KERNELS)') \
		$(if $(DEBUG_TESTS),--debug-tests '$(DEBUG_TESTS)')

check-long: hca lib selftests
	@selftests/run --long $(if $(TESTS),--tests '$(TESTS)') \
		$(if $(KERNELS),--kernels '$(KERNELS)')

check-peers: hca
	@selftests/peers/run $(if $(KERNELS),--kernel '$(KERNELS)')

bench: hca lib selftests
	@selftests/bench/run

-include kernel/kernel.mk
-include selftests/lab/lab.mk
-include packaging/install.mk

endif

clean:
	rm -rf build
