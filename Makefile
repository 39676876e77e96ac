# Tenon. `make help` lists what there is.
#
# CRYPTO=mbedtls|openssl   whose P-256 and SHA-256 the library is built with
# SANITIZE=LIST            build with -fsanitize=LIST (address,undefined or thread)
# PREFIX=, DESTDIR=        where `make install` puts things
# FUZZ_SECONDS=            how long each fuzzer runs

CRYPTO ?= mbedtls
SANITIZE ?=
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 10
CLANG ?= clang
PYTHON ?= python3
SWIFT ?= swift
RUSTC ?= rustc
VALGRIND ?= valgrind

BUILD := .build/make/$(CRYPTO)$(if $(SANITIZE),-$(firstword $(subst $(comma), ,$(SANITIZE))))
comma := ,

number = $(shell sed -n 's/^.define VERSION_$(1) //p' CSources/base/version.c)
SOVERSION := $(call number,MAJOR)
VERSION := $(SOVERSION).$(call number,MINOR).$(call number,PATCH)

OTHER_mbedtls := openssl
OTHER_openssl := mbedtls
LIBS_mbedtls := -lmbedx509 -lmbedcrypto
LIBS_openssl := -lmbedx509 -lmbedcrypto -lcrypto
LIBS := $(LIBS_$(CRYPTO))
$(if $(LIBS),,$(error CRYPTO must be mbedtls or openssl))

WARNINGS := -pedantic -Wall -Wextra -Werror -Wshadow -Wcast-qual -Wwrite-strings -Wmissing-prototypes \
            -Wstrict-prototypes -Wconversion -Wsign-conversion -Wundef
CFLAGS ?= -O2 -g
TENON_CFLAGS := -std=c11 $(WARNINGS) -Iinclude -ICSources -fPIC -fvisibility=hidden -fstack-protector-strong \
                $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer,-D_FORTIFY_SOURCE=2) \
                $(if $(filter openssl,$(CRYPTO)),-DTENON_OPENSSL)
TENON_LDFLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE),-Wl$(comma)--as-needed) -Wl,-z,relro,-z,now,-z,noexecstack

SOURCES := $(filter-out %_$(OTHER_$(CRYPTO)).c,$(wildcard CSources/base/*.c CSources/crypto/*.c))
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)
SHARED := $(BUILD)/libtenon.so.$(SOVERSION)
STATIC := $(BUILD)/libtenon.a

TPM_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard CSources/tpm/*.c))
TPM_SHARED := $(BUILD)/libtenon-tpm.so.$(SOVERSION)
TPM_STATIC := $(BUILD)/libtenon-tpm.a
TPM_LIBS := -ltss2-tctildr -lpthread

.DEFAULT_GOAL := lib
.DELETE_ON_ERROR:
.SUFFIXES:

## lib              libtenon and libtenon-tpm: .so, .a and .pc (default)
.PHONY: lib
lib: $(SHARED) $(STATIC) $(BUILD)/tenon.pc $(TPM_SHARED) $(TPM_STATIC) $(BUILD)/tenon-tpm.pc

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(TENON_CFLAGS) $(CFLAGS) $(CPPFLAGS) -MMD -MP -c $< -o $@

$(SHARED): $(OBJECTS) CSources/tenon.map
	$(CC) -shared $(TENON_LDFLAGS) $(LDFLAGS) $(if $(SANITIZE),,-Wl,--no-undefined) -Wl,-soname,$(@F) \
	    -Wl,--version-script=CSources/tenon.map $(OBJECTS) $(LIBS) -o $@
	ln -sf $(@F) $(BUILD)/libtenon.so

$(STATIC): $(OBJECTS)
	rm -f $@
	$(AR) rcs $@ $(OBJECTS)

# Public symbols come from libtenon.so, which stands first; what else is needed are hidden copies out of libtenon.a.
$(TPM_SHARED): $(TPM_OBJECTS) $(SHARED) $(STATIC) CSources/tenon-tpm.map
	$(CC) -shared $(TENON_LDFLAGS) $(LDFLAGS) $(if $(SANITIZE),,-Wl,--no-undefined) -Wl,-soname,$(@F) \
	    -Wl,--version-script=CSources/tenon-tpm.map $(TPM_OBJECTS) $(SHARED) $(STATIC) $(LIBS) $(TPM_LIBS) -o $@
	ln -sf $(@F) $(BUILD)/libtenon-tpm.so

$(TPM_STATIC): $(TPM_OBJECTS)
	rm -f $@
	$(AR) rcs $@ $(TPM_OBJECTS)

PC = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@LIBS@|$(LIBS)|' -e 's|@TPM_LIBS@|$(TPM_LIBS)|'

$(BUILD)/%.pc: CSources/%.pc.in CSources/base/version.c Makefile
	@mkdir -p $(@D)
	$(PC) $< > $@

## install          to PREFIX, below DESTDIR
.PHONY: install
install: lib
	install -d $(DESTDIR)$(PREFIX)/include/tenon/tpm $(DESTDIR)$(PREFIX)/lib/pkgconfig
	install -m 644 include/tenon/*.h $(DESTDIR)$(PREFIX)/include/tenon
	install -m 644 include/tenon/tpm/*.h $(DESTDIR)$(PREFIX)/include/tenon/tpm
	install -m 644 $(STATIC) $(TPM_STATIC) $(DESTDIR)$(PREFIX)/lib
	for name in tenon tenon-tpm; do \
	    install -m 755 $(BUILD)/lib$$name.so.$(SOVERSION) $(DESTDIR)$(PREFIX)/lib/lib$$name.so.$(VERSION) && \
	    ln -sf lib$$name.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/lib$$name.so.$(SOVERSION) && \
	    ln -sf lib$$name.so.$(SOVERSION) $(DESTDIR)$(PREFIX)/lib/lib$$name.so && \
	    $(PC) CSources/$$name.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/$$name.pc || exit 1; \
	done

## test             everything a change must pass; installs the packages that it needs
.PHONY: test
test: deps
	$(MAKE) rules
	$(MAKE) check
	$(MAKE) check CRYPTO=openssl
	$(MAKE) check-differential check-constant-time check-heap check-abi check-install
	$(SWIFT) test

## deps             the Debian packages that the build and the tests need
.PHONY: deps
deps:
	@sh Tests/Scripts/deps.sh

## check            the C tests of one build (CRYPTO=, SANITIZE=)
TEST_WRAPS := -Wl,--wrap=calloc,--wrap=getrandom
TESTS := $(BUILD)/core_tests
SUPPORT := $(patsubst %.c,$(BUILD)/%.o,$(filter-out %_test.c,$(wildcard Tests/Support/*.c)))
TEST_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,Tests/C/test_main.c $(wildcard Tests/C/*_test.c)) $(SUPPORT)

$(BUILD)/Tests/%.o: TENON_CFLAGS += -ITests/C -ITests/Support

$(TESTS): $(TEST_OBJECTS) $(TPM_STATIC) $(STATIC)
	$(CC) $(TENON_LDFLAGS) $(LDFLAGS) $(TEST_WRAPS) $^ $(LIBS) $(TPM_LIBS) -o $@

.PHONY: check
check: $(TESTS)
	$(TESTS)

## check-valgrind   the same under valgrind
.PHONY: check-valgrind
check-valgrind: $(TESTS)
	$(VALGRIND) -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=all $(TESTS)

$(BUILD)/%: $(BUILD)/Tests/C/%.o $(STATIC)
	$(CC) $(TENON_LDFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

MBEDTLS := .build/make/mbedtls
OPENSSL := .build/make/openssl

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

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
