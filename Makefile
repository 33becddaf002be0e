# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The top of the tree. Each part keeps its rules beside its code, in a fragment.
# make reads the fragments of what is compiled inside the lab's root file system
# only, since the tool chains and libraries are there. So the host needs bash,
# make and apt, and nothing else. All products go to build/.

LAB := lab
ENTER := $(LAB)/enter
PARTS := hca hca-tests lib workloads selftests core-tests lint
JOBS := $(shell nproc)
# That of the kernels under test, and not of what is compiled.
unexport ARCH

.PHONY: help demo demo-apps headline check check-all check-long check-peers check-netdev check-consumers bench lab $(PARTS) all clean

help:
	@echo 'make demo           boot a stock kernel on a simulated HCA and show which'
	@echo '                    uUAR each QP rings under each policy      [LINK=eth]'
	@echo 'make demo-apps      run a sort, an FFT and a solver over two guests'
	@echo '                    [CABLE=latency=US,rate=MB/s] (2000, 20)'
	@echo 'make headline       show the results that made the studies behind the workloads'
	@echo '                    known, beside Open MPI and MPICH (ten minutes)  [CABLE=..]'
	@echo 'make check          run the core tests, in ten minutes; with an option below'
	@echo '                    what it chooses of all tests'
	@echo 'make check-all      run all tests    [TESTS=pattern] [KERNELS="6.12 7.2"|all]'
	@echo '                                     [LINK=eth] [DEBUG_TESTS=pattern]'
	@echo '                    [ENVIRONMENT=other]: another umask, locale, number of CPUs'
	@echo '                    [KERNELS=PATH [HEADERS=PATH]]: any kernel, see lab.md'
	@echo '                    [ARCH=arm64 [KERNELS="4k 16k 64k"]]: kernels of arm64'
	@echo 'make check-long     run the long tests, coverage, mutants, the fuzzer (a day)'
	@echo 'make check-peers    run the tests of rdma-core and perftest without the module'
	@echo '                    and under each policy, and compare  [KERNELS=7.2] [LINK=eth]'
	@echo 'make check-netdev   run the tests that Linux has for network devices (Ethernet)'
	@echo 'make check-consumers run UCX, two MPIs, rdma-core, perftest without the module and'
	@echo '                    under each policy, and compare [KERNELS=..] [CELLS=..]'
	@echo '                    [GUESTS="1 2"] [STATES=..]'
	@echo 'make -C selftests   install or run the tests in the form of kselftest'
	@echo 'make bench          measure, one line for each figure'
	@echo 'make all            build module, library, tool, tests and simhca'
	@echo 'make hca            build simhca, the simulated HCA'
	@echo 'make lib            build the library and the tool'
	@echo 'make selftests      build tests, workloads and benchmarks'
	@echo 'make docs           build the pages as HTML and the manual as one PDF'
	@echo 'make pictures       draw the pictures of the pages'
	@echo 'make modules        build the module          KDIR=/lib/modules/.../build'
	@echo 'make modules-lint   build it with W=1 and sparse    KDIR=...'
	@echo 'make module-check   build it with W=1 and sparse for each kernel of the lab'
	@echo 'make dkms-check     build it through DKMS for each kernel of the lab'
	@echo 'make debug-kernel   build the debug kernel of the lab'
	@echo 'make lint           check style, layers, dead code and pages'
	@echo 'make model          explore the models of the protocols with spin'
	@echo 'make mutants        put small bugs in and look whether the tests see them'
	@echo '                                     [N=60] [AREA=kernel/uuar]'
	@echo 'make fuzz           fuzz the uapi on the debug kernel [SECONDS=120] [SEED=1]'
	@echo '                                                      [EXECUTIONS=N] [CPUS=2]'
	@echo 'make coverage       which lines of kernel/ the tests run   [TESTS=pattern]'
	@echo '                                                          [TIER=core]'
	@echo 'make install        install module (DKMS), library, tool and modprobe.d'
	@echo 'make uninstall      remove what make install installed'
	@echo 'make deb, make rpm  build packages'
	@echo 'make linux-tree     put the module into a Linux tree, as commits   LINUX=DIR'
	@echo 'make rpm-check      build the RPM packages and check what is in them'
	@echo 'make lab            set up the lab (the others do that by themselves)'
	@echo 'make clean          remove build/ and keep the lab'

ifdef IN_LAB

-include simhca/simhca.mk
-include userlib/userlib.mk
-include selftests/selftests.mk
-include workloads/workloads.mk
-include selftests/lint.mk

else

lab:
	@$(LAB)/setup

$(PARTS): lab
	@$(ENTER) $(MAKE) --no-print-directory -j$(JOBS) IN_LAB=1 $@

all: hca lib selftests
	@$(LAB)/build-module all

# Without a lab a small one is made, and nothing is built that the demo does not show.
demo: export MLX5_EP_LAB := demo
demo: lab
	@$(ENTER) $(MAKE) --no-print-directory -j$(JOBS) IN_LAB=1 hca demo-programs
	@$(LAB)/build-module --progress 7.2
	@selftests/demo $(if $(LINK),--link '$(LINK)')

demo-apps: hca lib selftests
	@workloads/demo $(if $(CABLE),--cable '$(CABLE)')

headline: hca lib selftests
	@workloads/headline/headline $(if $(CABLE),--cable '$(CABLE)')

# ENVIRONMENT=other; a variable of the caller's environment with this name is not meant.
environment = $(if $(filter command,$(origin ENVIRONMENT)),$(if \
	$(filter other,$(ENVIRONMENT)),--other-environment,$(error \
	ENVIRONMENT=$(ENVIRONMENT): only "other" is known)))

# ARCH=arm64; another value is refused, but means nothing in the caller's environment.
other_arch = $(if $(filter command,$(origin ARCH)),$(if \
	$(filter-out arm64,$(ARCH)),$(error \
	ARCH=$(ARCH): only "arm64" is known; without it kernels are those of x86-64)))
arch = $(other_arch)$(if $(filter arm64,$(ARCH)),--arch arm64)

# What make check runs if nothing is chosen.
chosen = $(strip $(TESTS)$(LINK)$(KERNELS)$(environment)$(arch)$(DEBUG_TESTS)$(WITHOUT))

check: hca lib $(if $(strip $(TESTS)$(LINK)$(KERNELS)$(ENVIRONMENT)$(ARCH)$(DEBUG_TESTS)$(WITHOUT)),\
	selftests,core-tests)
check-all: hca lib selftests
check check-all:
	@selftests/run $(if $(filter check,$@),$(if $(chosen),,--core)) \
		$(if $(TESTS),--tests '$(TESTS)') \
		$(if $(LINK),--link '$(LINK)') \
		$(if $(KERNELS),--kernels '$(KERNELS)') \
		$(arch) \
		$(if $(HEADERS),--headers '$(HEADERS)') \
		$(if $(DEBUG_TESTS),--debug-tests '$(DEBUG_TESTS)') \
		$(if $(WITHOUT),--without '$(WITHOUT)') \
		$(environment) \
		$(if $(WITHIN),--within '$(WITHIN)')

check-long: hca lib selftests
	@$(if $(N),N='$(N)') $(if $(SEED),SEED='$(SEED)') \
		$(if $(EXECUTIONS),EXECUTIONS='$(EXECUTIONS)') \
		selftests/runner/long $(if $(TESTS),--tests '$(TESTS)') \
		$(if $(LINK),--link '$(LINK)') \
		$(if $(KERNELS),--kernels '$(KERNELS)') \
		$(arch) \
		$(if $(HEADERS),--headers '$(HEADERS)') \
		$(environment)

check-peers: hca
	@selftests/peers/run $(if $(KERNELS),--kernel '$(KERNELS)') \
		$(if $(LINK),--link '$(LINK)')

check-netdev: hca
	@selftests/peers/run --netdev $(if $(KERNELS),--kernel '$(KERNELS)')

check-consumers: hca lib selftests
	@selftests/cluster/run $(if $(KERNELS),--kernels '$(KERNELS)') \
		$(if $(CELLS),--cells '$(CELLS)') \
		$(if $(GUESTS),--guests '$(GUESTS)') \
		$(if $(STATES),--states '$(STATES)') \
		$(if $(FABTESTS),--fabtests '$(FABTESTS)')

bench: hca lib selftests
	@selftests/bench/run

.PHONY: model
model: lab
	@$(ENTER) selftests/model/run

.PHONY: fuzz
fuzz: hca lib selftests
	@selftests/fuzz/run $(if $(SECONDS),--seconds '$(SECONDS)') \
		$(if $(EXECUTIONS),--executions '$(EXECUTIONS)') \
		$(if $(SEED),--seed '$(SEED)') \
		$(if $(CPUS),--cpus '$(CPUS)')

.PHONY: coverage
coverage: hca lib selftests
	@selftests/coverage/run $(if $(TESTS),--tests '$(TESTS)') \
		$(if $(filter command,$(origin TIER)),$(if $(filter core,$(TIER)),--core,$(error \
		TIER=$(TIER): only "core" is known)))

.PHONY: mutants
mutants: hca lib selftests
	@selftests/mutants/run $(if $(N),--number '$(N)') \
		$(if $(KERNELS),--kernel '$(KERNELS)') \
		$(if $(AREA),--area '$(AREA)') $(if $(SEED),--seed '$(SEED)') \
		$(if $(CPUS),--cpus '$(CPUS)')

-include kernel/kernel.mk
-include lab/lab.mk
-include packaging/install.mk
-include Documentation/docs.mk

endif

clean:
	rm -rf build
