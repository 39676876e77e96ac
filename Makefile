# SPDX-License-Identifier: Apache-2.0
# Tenon. `make help` lists what there is.
#
# CRYPTO=mbedtls|openssl   whose P-256 and SHA-256 the library is built with
# CC=                      another compiler, or that of another processor (arm-linux-gnueabihf-gcc), with a folder of its own
# ARCH=                    of check-arch: amd64, arm64, armhf, i386, riscv64 or s390x
# RELEASE=                 of check-arch, in-root and check-packages: bookworm or trixie; else that of this machine
# SANITIZE=LIST            build with -fsanitize=LIST (address,undefined or thread)
# PREFIX=, LIBDIR=, DESTDIR=  where `make install` puts things
# WERROR=                  empty: warnings of another compiler do not end the build
# ONLY=                    of check, the tests whose names begin so; of check-swift, those that this pattern finds
# RUN=                     what the C tests are run by (qemu-arm)
# JOBS=                    in how many processes the C tests run
# FUZZ_SECONDS=            how long each fuzzer runs
# DEBUG=1                  build the Swift parts for a debugger, and sooner after an edit; else optimised, as they are shipped
# COVERAGE=                empty: the fuzzers do not say what of the core they ran
# RACE_SECONDS=            how long the processes of check-processes race
# V=1                      print each command

ifndef V
MAKEFLAGS += -s
endif

CRYPTO ?= mbedtls
SANITIZE ?=
PREFIX ?= /usr/local
WERROR ?= -Werror
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 10
COVERAGE ?= 1
RACE_SECONDS ?= 60
RUN ?=
CLANG ?= clang
PYTHON ?= python3
SWIFT ?= Tests/Scripts/swift.sh
SWIFTC ?= swiftc
RUSTC ?= rustc
VALGRIND ?= valgrind

# What tools keep for the next time stays in the clone.
export XDG_CACHE_HOME := $(CURDIR)/.build/home/.cache

# TMPDIR of the tests; benches and the demo use the disk, as a device does.
check: export TMPDIR = $(shell Tests/Scripts/scratch.sh)
check-%: export TMPDIR = $(shell Tests/Scripts/scratch.sh)

# A compiler that was named has a folder of its own, so that no object of another one is taken for done.
comma := ,
space := $(subst ,, )
COMPILER := $(if $(filter default undefined,$(origin CC)),,-$(subst /,_,$(subst $(space),,$(CC))))
KIND_OF_BUILD := $(COMPILER)$(if $(SANITIZE),-$(firstword $(subst $(comma), ,$(SANITIZE))))
BUILD := .build/make/$(CRYPTO)$(KIND_OF_BUILD)
# Where the objects are that do not know the backend.
SAME := $(if $(filter openssl,$(CRYPTO)),.build/make/mbedtls$(KIND_OF_BUILD),$(BUILD))

# The tools that go with the compiler of another processor are named as it is; musl-gcc, of this processor, has none.
CROSS := $(patsubst %gcc,%,$(filter %-gcc,$(CC)))
CROSS := $(if $(CROSS),$(if $(shell command -v $(CROSS)ar),$(CROSS)))
ifeq ($(origin AR),default)
AR := $(CROSS)ar
endif
NM ?= $(CROSS)nm
OBJCOPY ?= $(CROSS)objcopy

number = $(shell sed -n 's/^.define VERSION_$(1) //p' CSources/base/constants.c)
SOVERSION := $(call number,MAJOR)
VERSION := $(SOVERSION).$(call number,MINOR).$(call number,PATCH)

OTHER_mbedtls := openssl
OTHER_openssl := mbedtls
LIBS_mbedtls := -lmbedcrypto
LIBS_openssl := -lmbedcrypto -lcrypto
LIBS := $(LIBS_$(CRYPTO))
REQUIRES_openssl := libcrypto
$(if $(LIBS),,$(error CRYPTO must be mbedtls or openssl))

WARNINGS := -pedantic -Wall -Wextra $(WERROR) -Wshadow -Wcast-qual -Wwrite-strings -Wmissing-prototypes \
            -Wstrict-prototypes -Wconversion -Wsign-conversion -Wundef
CFLAGS ?= $(if $(filter address%,$(SANITIZE)),-O1,-O2) -g
TENON_CFLAGS := -std=c11 $(WARNINGS) -D_FILE_OFFSET_BITS=64 -Iinclude -ICSources -fPIC -fvisibility=hidden \
                -fstack-protector-strong -ffunction-sections -fdata-sections -ffile-prefix-map=$(CURDIR)=. \
                -fno-asynchronous-unwind-tables \
                $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer,-D_FORTIFY_SOURCE=2) \
                $(if $(filter openssl,$(CRYPTO)),-DTENON_OPENSSL)
TENON_LDFLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE),-Wl$(comma)--as-needed) -Wl,-z,relro,-z,now,-z,noexecstack,--gc-sections

SOURCES := $(filter-out %_$(OTHER_$(CRYPTO)).c,$(wildcard $(patsubst %,CSources/%/*.c,base crypto keri proof)))
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)
SHARED := $(BUILD)/libtenon.so.$(SOVERSION)
STATIC := $(BUILD)/libtenon.a

# In a library of its own, so that who verifies one request at a time does not carry it; libtenon.a holds both.
BATCH_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard CSources/batch/*.c))
BATCH_SHARED := $(BUILD)/libtenon-batch.so.$(SOVERSION)

TPM_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard CSources/tpm/*.c))
TPM_SHARED := $(BUILD)/libtenon-tpm.so.$(SOVERSION)
TPM_STATIC := $(BUILD)/libtenon-tpm.a
TPM_LIBS := -ltss2-tctildr -lpthread

NATIVE_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard CSources/native/*.c))
NATIVE_SHARED := $(BUILD)/libsynheart_native_crypto.so
NATIVE_TPM := $(patsubst CSources/tpm/%.c,$(BUILD)/native/%.o,$(wildcard CSources/tpm/*.c))

.DEFAULT_GOAL := lib
.DELETE_ON_ERROR:
.SUFFIXES:

## lib              libtenon, libtenon-batch and libtenon-tpm: .so, .a and .pc; libsynheart_native_crypto.so (default)
.PHONY: lib
lib: $(SHARED) $(STATIC) $(BUILD)/tenon.pc $(BATCH_SHARED) $(BUILD)/tenon-batch.pc $(TPM_SHARED) $(TPM_STATIC) \
     $(BUILD)/tenon-tpm.pc $(NATIVE_SHARED)
	echo "libtenon and libtenon-tpm $(VERSION) with $(CRYPTO): $(BUILD)"

COMPILE = $(CC) $(if $(filter $(SAME)/%,$@),$(filter-out -DTENON_OPENSSL,$(TENON_CFLAGS)),$(TENON_CFLAGS)) $(CFLAGS) $(CPPFLAGS) $(SMALL) -MMD -MP -c $< -o $@

$(SAME)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(COMPILE)

# Only these know it: no header does (`make rules`).
ifneq ($(SAME),$(BUILD))
OF_BACKEND := $(shell grep -rls --include='*.c' TENON_OPENSSL CSources Tests/C Tests/Support Bench)
$(OF_BACKEND:%.c=$(BUILD)/%.o): $(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(COMPILE)

.PRECIOUS: $(SAME)/%.o
$(BUILD)/%.o: $(SAME)/%.o
	@mkdir -p $(@D)
	cp $< $@
endif

# What waits for a signature, or for a person, is built for size.
$(BUILD)/CSources/keri/%.o $(BUILD)/CSources/native/%.o $(BUILD)/native/%.o \
$(BUILD)/CSources/proof/%.o $(patsubst %,$(BUILD)/CSources/%.o,base/der base/status base/text \
    base/process crypto/agreement crypto/blake3 crypto/certified_key crypto/certified_key_mbedtls \
    crypto/certified_key_openssl crypto/gcm crypto/group_wide crypto/p256 \
    crypto/message crypto/protection crypto/quirks crypto/signing_key crypto/structures \
    tpm/activate tpm/ek tpm/info tpm/keyfile tpm/nv tpm/pcrs tpm/persist tpm/policy): \
    SMALL := $(if $(filter -O2,$(CFLAGS)),-Os)

$(SHARED): $(OBJECTS) CSources/tenon.map
	$(CC) -shared $(TENON_LDFLAGS) $(LDFLAGS) $(if $(SANITIZE),,-Wl,--no-undefined) -Wl,-soname,$(@F) \
	    -Wl,--version-script=CSources/tenon.map $(OBJECTS) $(LIBS) -o $@
	ln -sf $(@F) $(BUILD)/libtenon.so

$(STATIC): $(OBJECTS) $(BATCH_OBJECTS)
	rm -f $@
	$(AR) rcs $@ $(OBJECTS) $(BATCH_OBJECTS)

# What libtenon-tpm.so and libtenon-batch.so need of libtenon that is not public: the same objects with other names for what is, so that it is
# taken from libtenon.so, and the copies are left out.
INNER := $(BUILD)/libtenon-inner.a
$(INNER): $(OBJECTS)
	rm -rf $@ $(BUILD)/inner
	mkdir -p $(BUILD)/inner
	for object in $(OBJECTS); do \
	    $(NM) -g --defined-only $$object | awk '$$3 ~ /^tenon_/ { print $$3, $$3 ".copy" }' > $(BUILD)/inner/names; \
	    $(OBJCOPY) --redefine-syms=$(BUILD)/inner/names $$object $(BUILD)/inner/$${object##*/} || exit 1; \
	done
	$(AR) rcs $@ $(BUILD)/inner/*.o

$(TPM_SHARED): $(TPM_OBJECTS) $(SHARED) $(INNER) CSources/tenon-tpm.map
	$(CC) -shared $(TENON_LDFLAGS) $(LDFLAGS) $(if $(SANITIZE),,-Wl,--no-undefined) -Wl,-soname,$(@F) \
	    -Wl,--version-script=CSources/tenon-tpm.map $(TPM_OBJECTS) $(SHARED) $(INNER) $(LIBS) $(TPM_LIBS) -o $@
	ln -sf $(@F) $(BUILD)/libtenon-tpm.so

$(BATCH_SHARED): $(BATCH_OBJECTS) $(SHARED) $(INNER) CSources/tenon-batch.map
	$(CC) -shared $(TENON_LDFLAGS) $(LDFLAGS) $(if $(SANITIZE),,-Wl,--no-undefined) -Wl,-soname,$(@F) \
	    -Wl,--version-script=CSources/tenon-batch.map $(BATCH_OBJECTS) $(SHARED) $(INNER) $(LIBS) -lpthread -o $@
	ln -sf $(@F) $(BUILD)/libtenon-batch.so

# It has its own hidden copy of libtenon-tpm, built for size, and so works with any version of that beside it; of libtenon
# it uses what is public. What was given to a runtime must stay: nodelete.
$(SAME)/native/%.o: CSources/tpm/%.c Makefile
	@mkdir -p $(@D)
	$(COMPILE)

$(NATIVE_SHARED): $(NATIVE_OBJECTS) $(NATIVE_TPM) $(SHARED) $(INNER) CSources/synheart-native.map
	$(CC) -shared $(TENON_LDFLAGS) $(LDFLAGS) $(if $(SANITIZE),,-Wl,--no-undefined) -Wl,-z,nodelete -Wl,-soname,$(@F) \
	    -Wl,--version-script=CSources/synheart-native.map $(NATIVE_OBJECTS) $(NATIVE_TPM) $(SHARED) $(INNER) $(LIBS) \
	    $(TPM_LIBS) -o $@

$(TPM_STATIC): $(TPM_OBJECTS)
	rm -f $@
	$(AR) rcs $@ $(TPM_OBJECTS)

$(BUILD)/%.pc: CSources/%.pc.in CSources/base/constants.c Makefile
	@mkdir -p $(@D)
	$(PC) $< > $@

TPM_STATE := .build/make/swtpm
TPM_STATE_FILE := $(TPM_STATE)/state/tpm2-00.permall

include packaging/packaging.mk

## test             what a change must pass: the steps of .ci/run but for sanitizers, valgrind, benches and fuzzers
.PHONY: test
test:
	.ci/run test

## deps             the Debian packages that the build and the tests need
.PHONY: deps
deps:
	@sh Tests/Scripts/deps.sh

## check            the C tests of one build (CRYPTO=, SANITIZE=)
# mbedTLS statically, so that an allocation that is made to fail can be one of its own.
TEST_WRAPS := $(patsubst %,-Wl$(comma)--wrap=%,calloc clock_gettime getrandom getpid madvise nanosleep open open64 readlink \
              stat stat64 pwrite64 fsync renameat unlinkat mkdirat ECDSA_do_sign pthread_cond_wait pthread_cond_signal pthread_cond_broadcast)
TESTS := $(BUILD)/core_tests
SUPPORT := $(patsubst %.c,$(BUILD)/%.o,$(wildcard Tests/Support/*.c))
TEST_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard Tests/C/test_*.c Tests/C/*_rig.c Tests/C/*_side.c Tests/C/*_test.c)) $(SUPPORT)

$(BUILD)/Tests/%.o: TENON_CFLAGS += -ITests/C -ITests/Support -Wno-unused-parameter

$(TESTS): $(TEST_OBJECTS) $(NATIVE_OBJECTS) $(TPM_STATIC) $(STATIC)
	$(CC) $(TENON_LDFLAGS) $(LDFLAGS) $(TEST_WRAPS) $^ $(LIBS:-lmbedcrypto=-l:libmbedcrypto.a) $(TPM_LIBS) -o $@

# A software TPM with EK certificates: made once, and copied by each test that wants one.
$(TPM_STATE_FILE):
	Tests/Scripts/swtpm_state.sh $(TPM_STATE)

.PHONY: check
check: $(TESTS) $(TPM_STATE_FILE)
	TENON_TEST_AGAIN="make check$(if $(COMPILER), CC='$(CC)')$(if $(filter openssl,$(CRYPTO)), CRYPTO=openssl)$(if $(SANITIZE), SANITIZE=$(SANITIZE))" \
	    $(RUN) $(TESTS) -j $(JOBS) $(ONLY)

## check-arch       the C tests in a root of a release of Debian, for another processor run by qemu (RELEASE=, ARCH=, ONLY=, QUICK=1, CRYPTO=)
ARCH ?= arm64
RELEASE ?= $(shell . /etc/os-release && echo $$VERSION_CODENAME)
.PHONY: check-arch
check-arch:
	Tests/Scripts/arch.sh $(RELEASE) $(ARCH) CRYPTO=$(CRYPTO) JOBS=$(JOBS) $(if $(QUICK),TENON_TEST_QUICK=1) $(if $(ONLY),ONLY='$(ONLY)')

## in-root          TARGETS= of this Makefile, and variables, in a root of a release of Debian, with this machine's Swift toolchain (RELEASE=)
TARGETS ?= lib
.PHONY: in-root
in-root:
	Tests/Scripts/root.sh make $(RELEASE) $(RELEASE) build-essential debhelper tzdata libncurses6
	Tests/Scripts/root.sh swift $(RELEASE) make deps $(TARGETS)

## rules-table      each rule of the verifier: its code, how many cases break it and were caught, and the first of them
.PHONY: rules-table
rules-table: $(TESTS)
	TENON_TEST_TABLE=1 $(TESTS) verify_each ek_cases rules_are_all_caught

## check-interop    keys and signatures of Tenon, tpm2-openssl and tpm2-tools, each used by the others
$(BUILD)/interop: $(BUILD)/Tests/C/interop.o $(TPM_STATIC) $(STATIC)
	$(CC) $(TENON_LDFLAGS) $(LDFLAGS) $^ $(LIBS) $(TPM_LIBS) -o $@

.PHONY: check-interop
check-interop: $(BUILD)/interop $(TPM_STATE_FILE)
	Tests/Scripts/interop.sh $(BUILD) $(TPM_STATE)

## check-judges     proofs, and what the IT-Wallet provider takes and issues, before verifiers of others, from PyPI
$(BUILD)/attest_tool: $(BUILD)/Tests/C/attest_tool.o $(SUPPORT) $(TPM_STATIC) $(STATIC)
	$(CC) $(TENON_LDFLAGS) $(LDFLAGS) $^ $(LIBS) $(TPM_LIBS) -o $@

$(BUILD)/keri_tool: $(BUILD)/Tests/C/keri_tool.o $(SUPPORT) $(TPM_STATIC) $(STATIC)
	$(CC) $(TENON_LDFLAGS) $(LDFLAGS) $^ $(LIBS) $(TPM_LIBS) -o $@

.PHONY: check-judges check-judges-keri
check-judges: $(BUILD)/attest_tool tested-commands check-judges-keri
	PYTHON=$(PYTHON) Tests/Scripts/judges.sh judges judges $(BUILD)/attest_tool
	PYTHON=$(PYTHON) Tests/Scripts/judges.sh judges judges_wallet $(SWIFT_BINARIES)/tenon-authority

## check-judges-keri  events of TPM keys before keri and auths, from PyPI, and before the authority: what they accept and refuse
check-judges-keri: $(BUILD)/keri_tool $(BUILD)/blake3_tool $(SHARED) tested-commands
	PYTHON=$(PYTHON) Tests/Scripts/judges.sh judges_keri judges_keri $(BUILD)
	PYTHON=$(PYTHON) Tests/Scripts/stores.sh Tests/Scripts/judges.sh judges_keri auths_client $(BUILD) $(SWIFT_BINARIES)/tenon-authority

## check-rfc9421    requests of signature version 2 before a library for RFC 9421, from PyPI
$(BUILD)/request2_tool: $(BUILD)/Tests/C/request2_tool.o $(SUPPORT) $(TPM_STATIC) $(STATIC)
	$(CC) $(TENON_LDFLAGS) $(LDFLAGS) $^ $(LIBS) $(TPM_LIBS) -o $@

.PHONY: check-rfc9421
check-rfc9421: $(BUILD)/request2_tool
	PYTHON=$(PYTHON) Tests/Scripts/judges.sh judges rfc9421 $(BUILD)/request2_tool

## check-support    the tests' own tools: software TPMs, and faults on the way to them
SUPPORT_TEST := $(BUILD)/support_test

$(SUPPORT_TEST): $(patsubst %.c,$(BUILD)/%.o,$(wildcard Tests/Support/selftest/*.c)) $(SUPPORT) $(STATIC)
	$(CC) $(TENON_LDFLAGS) $(LDFLAGS) $^ $(LIBS) -lpthread -o $@

.PHONY: check-support
check-support: $(SUPPORT_TEST)
	$(SUPPORT_TEST)

## check-valgrind   the same under valgrind
.PHONY: check-valgrind
check-valgrind: $(TESTS) $(TPM_STATE_FILE)
	TENON_TEST_QUICK=1 $(VALGRIND) -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=all $(TESTS) -j $(JOBS)

$(BUILD)/%: $(BUILD)/Tests/C/%.o $(STATIC)
	$(CC) $(TENON_LDFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

MBEDTLS := .build/make/mbedtls$(COMPILER)
OPENSSL := .build/make/openssl$(COMPILER)

## check-differential  the two backends say the same, and take each other's signatures
.PHONY: check-differential
check-differential:
	$(MAKE) $(MBEDTLS)/differential CRYPTO=mbedtls
	$(MAKE) $(OPENSSL)/differential CRYPTO=openssl
	$(MBEDTLS)/differential transcript > $(MBEDTLS)/transcript
	$(OPENSSL)/differential transcript > $(OPENSSL)/transcript
	cmp $(MBEDTLS)/transcript $(OPENSSL)/transcript
	$(MBEDTLS)/differential sign $(MBEDTLS)/signatures && $(OPENSSL)/differential verify $(MBEDTLS)/signatures
	$(OPENSSL)/differential sign $(OPENSSL)/signatures && $(MBEDTLS)/differential verify $(OPENSSL)/signatures

## check-chains     each chain of certificates that we accept and OpenSSL refuses is in a list, with the reason
CHAIN_JUDGE := $(BUILD)/chain_judge
$(CHAIN_JUDGE): $(patsubst %,$(BUILD)/Tests/C/%.o,test_main test_support test_workers certificate_rig chain_judge) $(STATIC)
	$(CC) $(TENON_LDFLAGS) $(LDFLAGS) $^ $(LIBS_openssl) $(TPM_LIBS) -o $@

.PHONY: check-chains
check-chains: $(CHAIN_JUDGE)
	$(CHAIN_JUDGE) chain_openssl

## check-constant-time  our code that touches secrets, under valgrind; and that valgrind would notice
.PHONY: check-constant-time
check-constant-time: $(BUILD)/constant_time
	$(VALGRIND) -q --error-exitcode=9 $<
	$(VALGRIND) -q --log-file=/dev/null $< decode
	! $(VALGRIND) -q --error-exitcode=9 $< leaky 2> $(BUILD)/leaky
	grep -q 'depends on uninitialised' $(BUILD)/leaky

## check-vectors    our own vectors are what their script makes
.PHONY: check-vectors
check-vectors: export PYTHONDONTWRITEBYTECODE = 1
check-vectors:
	$(PYTHON) Tests/Vectors/make_p256_hard.py | cmp - Tests/Vectors/p256-hard.txt
	PYTHONIOENCODING=utf-8 $(PYTHON) Tests/Vectors/make_activation.py | cmp - Tests/Vectors/activation.txt
	$(PYTHON) Tests/Vectors/make_batch.py | cmp - Tests/Vectors/batch.txt
	$(PYTHON) Tests/Vectors/make_worst.py | cmp - Tests/Vectors/certificates/worst.txt

## vectors-evidence  Tests/Vectors/evidence.txt and folded.txt anew: a TPM draws random numbers, so they always differ
.PHONY: vectors-evidence
vectors-evidence: $(TESTS) $(TPM_STATE_FILE)
	TENON_TEST_EVIDENCE=Tests/Vectors/evidence.txt $(TESTS) evidence_of_a_fresh_tpm
	TENON_TEST_FOLDED=Tests/Vectors/folded.txt $(TESTS) tpm_folded_works

## check-heap       no secret is left in memory, with both backends
$(BUILD)/heap_scan: $(BUILD)/Tests/C/heap_scan.o $(BUILD)/Tests/C/scan.o $(STATIC)
	$(CC) $(TENON_LDFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

$(BUILD)/tpm_heap_scan: $(BUILD)/Tests/C/tpm_heap_scan.o $(BUILD)/Tests/C/scan.o $(SUPPORT) $(TPM_STATIC) $(STATIC)
	$(CC) $(TENON_LDFLAGS) $(LDFLAGS) $^ $(LIBS) $(TPM_LIBS) -o $@

$(BUILD)/native_heap_scan: $(BUILD)/Tests/C/native_heap_scan.o $(BUILD)/Tests/C/scan.o $(SUPPORT) $(NATIVE_OBJECTS) \
    $(TPM_STATIC) $(STATIC)
	$(CC) $(TENON_LDFLAGS) $(LDFLAGS) $^ $(LIBS) $(TPM_LIBS) -o $@

SCANS := heap_scan tpm_heap_scan native_heap_scan
.PHONY: check-heap
check-heap: $(TPM_STATE_FILE)
	$(MAKE) $(SCANS:%=$(MBEDTLS)/%) CRYPTO=mbedtls
	$(MAKE) $(SCANS:%=$(OPENSSL)/%) CRYPTO=openssl
	for build in $(MBEDTLS) $(OPENSSL); do \
	    $$build/heap_scan && $$build/tpm_heap_scan $(TPM_STATE)/state && $$build/native_heap_scan || exit 1; done

## check-abi        the library as Python, Rust and C++ see it; headers, symbols
.PHONY: check-abi
check-abi: export PYTHONDONTWRITEBYTECODE = 1
check-abi: lib $(BUILD)/abi_rust $(BUILD)/abi_cpp $(BUILD)/abi_native
	Tests/ABI/headers.sh
	Tests/ABI/symbols.sh $(SHARED) CSources/tenon.map
	Tests/ABI/symbols.sh $(BATCH_SHARED) CSources/tenon-batch.map include/tenon/batch/*.h
	Tests/ABI/symbols.sh $(TPM_SHARED) CSources/tenon-tpm.map include/tenon/tpm/*.h
	Tests/ABI/symbols.sh $(NATIVE_SHARED) CSources/synheart-native.map include/tenon/native/*.h
	LD_LIBRARY_PATH=$(BUILD) $(BUILD)/abi_native libsynheart_native_crypto.so
	PYTHONPATH=Examples:Tests/Vectors $(PYTHON) Tests/ABI/test_abi.py $(SHARED)
	LD_LIBRARY_PATH=$(BUILD) $(BUILD)/abi_rust
	LD_LIBRARY_PATH=$(BUILD) $(BUILD)/abi_cpp

$(BUILD)/abi_rust: Tests/ABI/abi.rs $(SHARED)
	$(RUSTC) -D warnings --edition 2021 -L $(BUILD) -l tenon $< -o $@

$(BUILD)/abi_cpp: Tests/ABI/abi.cpp $(SHARED)
	$(CXX) -std=c++17 -Wall -Wextra -Wconversion -Werror -Iinclude $< -L$(BUILD) -ltenon -o $@

# What loads a library by its name links none of ours.
$(BUILD)/abi_native: Tests/ABI/native.c
	$(CC) -std=c11 -Wall -Wextra -Wconversion -Werror -O2 $< -o $@

## check-examples   Examples and what the documents show, against a software TPM and an authority (after check-swift, which builds it)
EXAMPLES := $(BUILD)/register $(BUILD)/sign $(BUILD)/verify_request
.PHONY: check-examples
check-examples: $(EXAMPLES) $(TPM_STATE_FILE)
	timeout 300 Tests/Scripts/examples.sh $(BUILD) $(TPM_STATE) $(SWIFT_BINARIES)
	timeout 600 Tests/Scripts/documents.sh $(TPM_STATE) $(SWIFT_BINARIES)

$(BUILD)/register: Examples/register.c $(TPM_SHARED) $(SHARED)
	$(CC) -Wall -Wextra -Wconversion -Werror -O2 -Iinclude $< -L$(BUILD) -ltenon-tpm -ltenon -lcurl -o $@

$(BUILD)/sign: Examples/sign.rs $(TPM_SHARED) $(SHARED)
	$(RUSTC) -D warnings --edition 2021 -L $(BUILD) -l tenon-tpm -l tenon $< -o $@

$(BUILD)/verify_request: Examples/verify_request.cpp $(SHARED)
	$(CXX) -std=c++17 -Wall -Wextra -Wconversion -Werror -O2 -Iinclude $< -L$(BUILD) -ltenon -o $@

## check-install    make install, its faults, and a program built with what pkg-config says
.PHONY: check-install
check-install: lib
	Tests/ABI/install.sh . $(BUILD)/install

## check-swift      the Swift tests, with a Redis and a PostgreSQL beside them (CRYPTO=, ONLY=, QUICK=1, DEBUG=1)
SWIFT_FLAGS := --scratch-path .build/swift-$(CRYPTO) $(if $(filter openssl,$(CRYPTO)),--traits OpenSSL) \
               $(if $(DEBUG),,-c release -Xswiftc -enable-testing)
.PHONY: check-swift swift-tests
swift-tests:
	$(SWIFT) build --build-tests $(SWIFT_FLAGS) $(if $(MAKE_TERMOUT),,-q)

check-swift: swift-tests $(TPM_STATE_FILE)
	Tests/Scripts/stores.sh Tests/Scripts/swift.sh tests $(SWIFT_BINARIES)/TenonPackageTests.xctest $(if $(ONLY),'$(ONLY)',$(if $(QUICK),--quick))

## check-conformance  each case of IT-Wallet's test matrix, by the names of the tests that ran (EVENTS=: in an earlier run)
.PHONY: check-conformance
check-conformance:
	$(if $(EVENTS),,$(MAKE) check-swift ONLY=Wallet)
	$(PYTHON) Tests/Scripts/conformance.py $(or $(EVENTS),.build/tests/chosen.jsonl)

## check-command    the command as it is typed, against what is written down of it (docs/doctor.md, Tests/Scripts/command.txt)
SWIFT_BINARIES = $(shell $(SWIFT) build $(SWIFT_FLAGS) --show-bin-path)
.PHONY: check-command tested-commands
check-command: tested-commands $(TPM_STATE_FILE)
	Tests/Scripts/command.sh $(SWIFT_BINARIES) $(TPM_STATE)

tested-commands:
	echo "building tenon and tenon-authority: the first time it takes some minutes"
	for product in tenon tenon-authority; do \
	    $(SWIFT) build $(SWIFT_FLAGS) $(if $(MAKE_TERMOUT),,-q) --product $$product || exit 1; \
	done

## check-stores     faults of Redis, PostgreSQL, clocks and disks: what a client, health, the metrics and the log said, and when (FAULTS=)
FAULTS ?=
.PHONY: check-stores
check-stores: tested-commands
	@mkdir -p $(BUILD)
	$(CC) -O2 -Wall -Wextra -Werror -shared -fPIC Tests/Scripts/clock.c -o $(BUILD)/clock.so
	Tests/Scripts/stores.sh $(PYTHON) -B Tests/Scripts/stores_faults.py $(SWIFT_BINARIES)/tenon-authority $(BUILD)/clock.so $(FAULTS)

## demo             a device's identity from the first key to a cleared TPM (KIND=auths|it-wallet: at that service; RUNTIME=1: with a runtime behind the native callbacks, too); on a TPM of this machine with TPM=device:/dev/tpmrm0
TPM ?=
KIND ?=
RUNTIME ?=
.PHONY: demo
demo: deps tested-commands $(TPM_STATE_FILE) $(if $(RUNTIME),$(NATIVE_SHARED))
	$(if $(RUNTIME),RUNTIME='$(CURDIR)/$(NATIVE_SHARED)' LD_LIBRARY_PATH='$(CURDIR)/$(BUILD)') \
	    Examples/demo$(if $(KIND),-$(KIND)).sh $(SWIFT_BINARIES) $(TPM_STATE) $(TPM)

## check-processes  eight processes on one identity, for RACE_SECONDS (CRYPTO=)
.PHONY: check-processes
check-processes:
	$(SWIFT) build --build-tests $(SWIFT_FLAGS)
	TENON_TEST_RACE=$(RACE_SECONDS) Tests/Scripts/swift.sh tests $(SWIFT_BINARIES)/TenonPackageTests.xctest RaceTests

## check-dev-mode   only a build with the trait DevMode has its header
.PHONY: check-dev-mode
check-dev-mode: tested-commands
	SWIFTC=$(SWIFTC) Tests/Scripts/dev_mode.sh $(SWIFT_BINARIES)/tenon .build/dev-mode

## house            how the tree is built, in numbers
.PHONY: house
house:
	$(PYTHON) Tests/Scripts/house.py

## rules            the shape of the tree
.PHONY: rules
rules:
	Tests/Scripts/layout.sh

## check-rules      each rule is broken once, and noticed
.PHONY: check-rules
check-rules:
	Tests/Scripts/layout_test.sh

## check-broken     a copy of the project is broken in each way of Tests/Broken; the step that should notice does (NAMES=, to be gone on with)
.PHONY: check-broken check-broken-applies
check-broken: $(TPM_STATE_FILE)
	$(PYTHON) Tests/Scripts/broken.py $(NAMES)

check-broken-applies:
	$(PYTHON) Tests/Scripts/broken.py --applies

## fuzz             each fuzzer for FUZZ_SECONDS
FUZZERS := $(patsubst Tests/Fuzz/%_fuzz.c,%,$(wildcard Tests/Fuzz/*_fuzz.c))
FUZZ := .build/make/fuzz$(if $(COVERAGE),,-plain)
PROFILED := $(if $(COVERAGE),-fprofile-instr-generate)

.PHONY: fuzz
fuzz:
	$(MAKE) fuzzers CC=$(CLANG) SANITIZE=fuzzer-no-link,address,undefined BUILD=$(FUZZ) CFLAGS="-O1 -g $(PROFILED) $(COVERAGE:%=-fcoverage-mapping)"
	rm -f $(FUZZ)/*.profraw
	set -e; for name in $(FUZZERS) json synheart itwallet provider; do \
	    mkdir -p $(FUZZ)/corpus/$$name; \
	    SWIFT_BACKTRACE=enable=no LLVM_PROFILE_FILE=$(FUZZ)/$$name.profraw \
	        $(FUZZ)/$${name}_fuzz -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
	        -artifact_prefix=$(FUZZ)/ $(FUZZ)/corpus/$$name Tests/Fuzz/corpus/$$name > $(FUZZ)/$$name.log 2>&1 || { cat $(FUZZ)/$$name.log; exit 1; }; \
	    echo "$$name: $$(sed -n 's/^stat::number_of_executed_units: *//p' $(FUZZ)/$$name.log) inputs"; \
	done
	$(if $(COVERAGE),Tests/Scripts/fuzz_coverage.sh $(FUZZ) $(CLANG) $(FUZZERS))

## fuzz-seeds       the seeds of what a TPM answers to an attestation, recorded anew: a TPM draws random numbers, so they always differ
.PHONY: fuzz-seeds
fuzz-seeds: $(BUILD)/attest_record $(TPM_STATE_FILE)
	$(BUILD)/attest_record $(TPM_STATE)/state Tests/Fuzz/corpus/attest

$(BUILD)/attest_record: $(BUILD)/Tests/Fuzz/attest_record.o $(SUPPORT) $(TPM_STATIC) $(STATIC)
	$(CC) $(TENON_LDFLAGS) $(LDFLAGS) $^ $(LIBS) $(TPM_LIBS) -o $@

$(BUILD)/Tests/Fuzz/%.o: TENON_CFLAGS += -ITests/Support -Wno-missing-prototypes -Wno-unused-function

.PHONY: fuzzers
fuzzers: $(FUZZERS:%=$(FUZZ)/%_fuzz) $(FUZZ)/json_fuzz $(FUZZ)/synheart_fuzz $(FUZZ)/itwallet_fuzz $(FUZZ)/provider_fuzz

$(FUZZ)/%_fuzz: $(FUZZ)/Tests/Fuzz/%_fuzz.o $(TPM_STATIC) $(STATIC)
	$(CLANG) -fsanitize=fuzzer,address,undefined $(PROFILED) -fuse-ld=lld $(FUZZ_WRAPS) $^ $(LIBS) $(TPM_LIBS) -o $@

$(FUZZ)/native_fuzz: $(NATIVE_OBJECTS)

# Whether a signature is good is part of the input.
$(FUZZ)/chain_fuzz: FUZZ_WRAPS := -Wl,--wrap=tenoni_certified_key_verify

$(FUZZ)/json_fuzz: Tests/Fuzz/json_fuzz.swift $(wildcard Sources/Tenon/JSON/JSON*.swift) Sources/Tenon/TenonError.swift
	@mkdir -p $(@D)
	$(SWIFTC) -O -use-ld=lld -sanitize=fuzzer,address -parse-as-library -package-name tenon $^ -o $@

# The modules as they are, each with the coverage that the fuzzer looks at.
FUZZ_MODULE = $(SWIFTC) -O -sanitize=fuzzer,address -parse-as-library -package-name tenon -I include -I $(FUZZ) \
              -enable-experimental-feature SafeInteropWrappers -enable-upcoming-feature InternalImportsByDefault
$(FUZZ)/libTenon.a: $(shell find Sources/Tenon -name '*.swift')
	@mkdir -p $(@D)
	$(FUZZ_MODULE) -wmo -module-name Tenon -emit-module -emit-module-path $(FUZZ)/Tenon.swiftmodule -emit-library -static $^ -o $@

$(FUZZ)/libTenonSynheart.a: $(wildcard Sources/TenonServices/Synheart/*.swift) $(FUZZ)/libTenon.a
	$(FUZZ_MODULE) -wmo -module-name TenonSynheart -emit-module -emit-module-path $(FUZZ)/TenonSynheart.swiftmodule \
	    -emit-library -static $(filter %.swift,$^) -o $@

$(FUZZ)/synheart_fuzz: Tests/Fuzz/synheart_fuzz.swift $(FUZZ)/libTenonSynheart.a $(FUZZ)/libTenon.a $(STATIC)
	$(FUZZ_MODULE) -use-ld=lld $^ $(LIBS) -o $@

$(FUZZ)/libTenonITWallet.a: $(wildcard Sources/TenonServices/ITWallet/*.swift) $(FUZZ)/libTenon.a
	$(FUZZ_MODULE) -wmo -module-name TenonITWallet -emit-module -emit-module-path $(FUZZ)/TenonITWallet.swiftmodule \
	    -emit-library -static $(filter %.swift,$^) -o $@

$(FUZZ)/itwallet_fuzz: Tests/Fuzz/itwallet_fuzz.swift $(FUZZ)/libTenonITWallet.a $(FUZZ)/libTenon.a $(STATIC)
	$(FUZZ_MODULE) -use-ld=lld $^ $(LIBS) -o $@

# What the provider reads, without what it stores.
PROVIDER_READERS := $(addprefix Sources/TenonAuthorityServices/ITWallet/,AccessCertificate.swift Assertion.swift ClientData.swift CompactJWS.swift)
$(FUZZ)/provider_fuzz: Tests/Fuzz/provider_fuzz.swift $(PROVIDER_READERS) $(FUZZ)/libTenon.a $(STATIC)
	$(FUZZ_MODULE) -use-ld=lld $^ $(LIBS) -o $@

## bench            what is fast, with both backends and a software TPM, and the figures that it has to reach
BENCH := Bench/run --builds $(MBEDTLS) $(OPENSSL)
BENCH_SOURCES := $(wildcard Bench/core/*.c) $(filter-out %/side_pkcs11.c %/tcti.c,$(wildcard Bench/tpm/*.c))

.PHONY: benches
benches:
	$(MAKE) lib $(MBEDTLS)/bench CRYPTO=mbedtls
	$(MAKE) lib $(OPENSSL)/bench CRYPTO=openssl

# PKCS #11 has a header of its own, which Bench/peers.sh unpacks; without it its line is named, and missing.
PKCS11 := $(firstword $(wildcard .build/deps/libp11-kit-dev/usr/include/p11-kit-1 /usr/include/p11-kit-1))
BENCH_SOURCES += $(if $(PKCS11),Bench/tpm/side_pkcs11.c)

$(BUILD)/Bench/%.o: TENON_CFLAGS += -IBench/core -ITests/Support -Wno-missing-field-initializers -Wno-unused-parameter $(PKCS11:%=-isystem %)

$(BUILD)/bench_tcti.so: $(BUILD)/Bench/tpm/tcti.o
	$(CC) -shared $(TENON_LDFLAGS) $(LDFLAGS) $^ -o $@

$(BUILD)/bench: $(BENCH_SOURCES:%.c=$(BUILD)/%.o) $(SUPPORT) $(TPM_STATIC) $(STATIC) | $(BUILD)/bench_tcti.so
	$(CC) $(TENON_LDFLAGS) $(LDFLAGS) $^ $(LIBS_openssl) -ltss2-esys $(TPM_LIBS) -o $@

.PHONY: bench
bench: benches
	@mkdir -p .build/bench
	$(BENCH) --json .build/bench/bench.json --html .build/bench/bench.html
	echo ".build/bench: bench.json, bench.html"

## bench-log        logs of 10 and 10,000 KERI rotations: events a second beside what no verifier can do without, and memory (CRYPTO=)
.PHONY: bench-log
bench-log: $(BUILD)/log_scale
	$< 10
	$< 10000

## bench-batch      many threads at a key whose command takes 35 ms: signed requests and commands a second, latencies, two keys (CRYPTO=)
$(BUILD)/batch_load: $(BUILD)/Bench/batch/load.o $(STATIC)
	$(CC) $(TENON_LDFLAGS) $(LDFLAGS) $^ $(LIBS) -lpthread -o $@

.PHONY: bench-batch
bench-batch: $(BUILD)/batch_load
	$< callers 35 1000 10
	for round in 1 2 3 4 5; do $< arrivals 35 1000 10 || exit 1; done
	$< one 35 100
	$< arrivals 200 5000 10
	$< two 35 5000 30

## bench-native     TPM commands of each native callback by name, and instructions of secure_load beside AES-GCM alone (CRYPTO=)
$(BUILD)/native_cost: $(BUILD)/Tests/C/native_cost.o $(SUPPORT) $(NATIVE_OBJECTS) $(TPM_STATIC) $(STATIC)
	$(CC) $(TENON_LDFLAGS) $(LDFLAGS) $^ $(LIBS) $(TPM_LIBS) -o $@

.PHONY: bench-native
bench-native: $(BUILD)/native_cost
	$<
	Bench/native.sh $< $(BUILD)

# The parts in Swift are built for release with OpenSSL; to run each once, as the tests are, where that is done.
SMOKE ?= $(findstring --smoke,$(FLAGS))
RELEASE_FLAGS = $(if $(SMOKE),$(SWIFT_FLAGS),-c release --traits OpenSSL --scratch-path .build/swift-release)
RELEASE_BINARIES = $(if $(SMOKE),$(SWIFT_BINARIES),.build/swift-release/release)
release-%:
	$(SWIFT) build $(RELEASE_FLAGS) $(if $(MAKE_TERMOUT),,-q) $(if $(filter-out all,$*),--product $*)

## bench-peers      the same beside what others have, and every figure: about ten minutes; what is missing here is fetched, or named (FLAGS=)
.PHONY: bench-peers
bench-peers: deps $(addprefix release-,$(if $(SMOKE),all,SwiftBench AuthorityBench tenon-authority)) $(TPM_STATE_FILE)
	@mkdir -p .build/bench
	Bench/peers.sh
	$(MAKE) benches
	Bench/peers.sh $(BENCH) --swift $(RELEASE_BINARIES) $(TPM_STATE) \
	    --json .build/bench/peers.json --html .build/bench/peers.html $(FLAGS)

## bench-swift      what Swift adds to the calls of the core: figure P4
## bench-authority  what a request and a registration cost an authority on one core: figure P10
## bench-flow       TPM commands and HTTP exchanges of a device's life, at an authority: figure P12
.PHONY: bench-swift bench-authority bench-flow
bench-swift: release-SwiftBench
bench-authority: release-AuthorityBench release-tenon-authority $(TPM_STATE_FILE)
bench-flow: release-AuthorityBench release-tenon-authority $(TPM_STATE_FILE)
bench-swift bench-authority bench-flow: bench-%:
	@mkdir -p .build/bench
	Bench/run --swift $(RELEASE_BINARIES) $(TPM_STATE) --part $* --json .build/bench/$*.json $(SMOKE)

## bench-memory     what an operation holds at most on the heap and on the stack, in bytes (CRYPTO=)
MEMORY_LINES := request-digest sign sign-cold generate verify verify-prepared verifier-new request-1k request-1m keri-inception \
                keri-append batch-device-256 batch-known-256 proof-verify worst-proof worst-ek worst-credential worst-activation \
                tpm-sign tpm-sign-salted tpm-attest tpm-first-primary
$(BUILD)/bench_memory: $(filter-out %/allocations.o %/counted.o,$(BENCH_SOURCES:%.c=$(BUILD)/%.o)) \
                       $(BUILD)/Bench/memory/memory.o $(SUPPORT) $(TPM_STATIC) $(STATIC)
	$(CC) $(TENON_LDFLAGS) $(LDFLAGS) $^ $(LIBS_openssl) -ltss2-esys $(TPM_LIBS) -o $@

.PHONY: bench-memory
bench-memory: $(BUILD)/bench_memory
	printf '%-22s %8s %8s\n' $(CRYPTO) heap stack
	for line in $(MEMORY_LINES); do $< count $$line tenon 8 || exit 1; done

## bench-chip       the commands that arrive at the TPM for each verb, without a resource manager and behind tpm2-abrmd, and the time (DELAYS="35 200": milliseconds that each command takes longer)
.PHONY: bench-chip
bench-chip: tested-commands $(TPM_STATE_FILE)
	Tests/Scripts/unpack.sh tpm2-abrmd libtss2-tcti-tabrmd0
	$(PYTHON) Bench/chip.py $(SWIFT_BINARIES) $(TPM_STATE) $(DELAYS)

## bench-smoke      each line of the bench once
.PHONY: bench-smoke
bench-smoke: benches
	$(BENCH) --smoke

## bench-check      instructions, TPM commands and sizes against their bounds and Bench/baselines
.PHONY: bench-check
bench-check: benches
	$(BENCH) --counts --check

## check-report     the report of the benches, with results that are made up
.PHONY: check-report
check-report:
	$(PYTHON) Tests/Scripts/bench_test.py

## format           C and Swift sources, in place
C_FILES = $(shell git ls-files -co --exclude-standard '*.c' '*.h')
.PHONY: format
format:
	clang-format -i $(C_FILES)
	$(SWIFT) format -i -r Package.swift Sources Tests Examples Bench

## check-format     whether format would change anything
.PHONY: check-format
check-format:
	clang-format --dry-run -Werror $(C_FILES)
	$(SWIFT) format lint -r --strict Package.swift Sources Tests Examples Bench

## clean            what was built
.PHONY: clean
clean:
	rm -rf .build

## help             this list
.PHONY: help
help:
	@sed -n 's/^## /  make /p' Makefile packaging/packaging.mk; echo; sed -n '/^# CRYPTO/,/^$$/s/^# /  /p' Makefile

-include $(shell find $(sort $(BUILD) $(SAME)) -type f -name '*.d' 2>/dev/null)
