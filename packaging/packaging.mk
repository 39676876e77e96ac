# SPDX-License-Identifier: Apache-2.0
# What is shipped, and how it comes onto a machine.

LIBDIR ?= $(PREFIX)/lib
BINDIR = $(PREFIX)/bin
SHAREDIR = $(PREFIX)/share
# systemd reads these below /usr and below /usr/local, whatever LIBDIR is.
SYSTEMDIR = $(PREFIX)/lib
UNITDIR ?= $(SYSTEMDIR)/systemd/system

# What the shell gets as one word, whatever it contains.
quoted = '$(subst ','\'',$(1))'
installed = $(call quoted,$(DESTDIR)$(1))

PC = sed -e $(call quoted,s|@PREFIX@|$(PREFIX)|) -e $(call quoted,s|@LIBDIR@|$(subst $(PREFIX)/,$${prefix}/,$(LIBDIR))|) \
         -e 's|@VERSION@|$(VERSION)|' -e 's|@LIBS@|$(LIBS)|' -e 's|@REQUIRES@|$(REQUIRES_$(CRYPTO))|' \
         -e 's|@TPM_LIBS@|$(TPM_LIBS)|'

## commands         tenon with mbedTLS and tenon-authority with OpenSSL, as they are shipped, in .build/commands
# They contain Swift's runtime, so they run on a machine without a toolchain (decision: static-runtime). The toolchain's own
# linker: GNU ld, which is there instead of gold on Debian 13, puts Swift's sections where nothing is read-only after
# relocation.
COMMANDS := .build/commands
COMMAND_NAMES := tenon tenon-authority
COMMAND_FLAGS = -c release --static-swift-stdlib --disable-local-rpath \
                -Xswiftc -file-prefix-map -Xswiftc "$(CURDIR)=." -Xcc "-ffile-prefix-map=$(CURDIR)=." \
                -Xcc -fstack-protector-strong -Xswiftc -use-ld=lld \
                -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now
.PHONY: commands
commands:
	echo "building tenon and tenon-authority for release: this takes some minutes"
	$(SWIFT) build $(COMMAND_FLAGS) --scratch-path .build/swift-commands-mbedtls $(if $(MAKE_TERMOUT),,-q) --product tenon
	$(SWIFT) build $(COMMAND_FLAGS) --scratch-path .build/swift-commands-openssl $(if $(MAKE_TERMOUT),,-q) --traits OpenSSL \
	    --product tenon-authority
	install -D -m 755 -t $(COMMANDS) .build/swift-commands-mbedtls/release/tenon \
	    .build/swift-commands-openssl/release/tenon-authority

## install          the libraries and the commands, to PREFIX, below DESTDIR (LIBDIR=): after `make` and `make commands`
## install-lib      the libraries, their headers and their .pc files; needs no Swift
## install-commands the commands, their manuals, completions and units
.PHONY: install install-lib install-commands
install: commands-built
	$(MAKE) install-lib install-commands

install-lib: lib
	install -d $(foreach part,batch native tpm,$(call installed,$(PREFIX)/include/tenon/$(part))) \
	    $(call installed,$(LIBDIR)/pkgconfig)
	install -m 644 include/tenon/*.h $(call installed,$(PREFIX)/include/tenon)
	for part in batch native tpm; do \
	    install -m 644 include/tenon/$$part/*.h $(call installed,$(PREFIX)/include/tenon)/$$part || exit 1; \
	done
	install -m 644 $(STATIC) $(TPM_STATIC) $(call installed,$(LIBDIR))
	install -m 755 $(NATIVE_SHARED) $(call installed,$(LIBDIR))
	for name in tenon tenon-batch tenon-tpm; do \
	    install -m 755 $(BUILD)/lib$$name.so.$(SOVERSION) $(call installed,$(LIBDIR))/lib$$name.so.$(VERSION) && \
	    ln -sf lib$$name.so.$(VERSION) $(call installed,$(LIBDIR))/lib$$name.so.$(SOVERSION) && \
	    ln -sf lib$$name.so.$(SOVERSION) $(call installed,$(LIBDIR))/lib$$name.so && \
	    $(PC) CSources/$$name.pc.in > $(call installed,$(LIBDIR))/pkgconfig/$$name.pc || exit 1; \
	done

# It builds nothing, so that root needs no Swift: whoever installs has built before.
.PHONY: commands-built
commands-built:
	for name in $(COMMAND_NAMES); do \
	    [ -x $(COMMANDS)/$$name ] || { echo "$(COMMANDS)/$$name is missing: run \`make commands\` first" >&2; exit 1; }; \
	done

install-commands: commands-built
	install -d $(call installed,$(BINDIR)) $(call installed,$(SHAREDIR)/man/man1) $(call installed,$(SHAREDIR)/man/man8) \
	    $(call installed,$(SHAREDIR)/bash-completion/completions) $(call installed,$(UNITDIR)) \
	    $(call installed,$(SYSTEMDIR)/sysusers.d) $(call installed,$(SYSTEMDIR)/tmpfiles.d)
	install -m 755 $(COMMAND_NAMES:%=$(COMMANDS)/%) $(call installed,$(BINDIR))
	$(COMMANDS)/tenon --man > $(call installed,$(SHAREDIR)/man/man1/tenon.1)
	$(COMMANDS)/tenon-authority --man > $(call installed,$(SHAREDIR)/man/man8/tenon-authority.8)
	for name in $(COMMAND_NAMES); do \
	    $(COMMANDS)/$$name --completion > $(call installed,$(SHAREDIR)/bash-completion/completions)/$$name || exit 1; \
	done
	for unit in packaging/systemd/*; do \
	    sed $(call quoted,s|/usr/bin/|$(subst $(space),\\x20,$(BINDIR))/|) $$unit > $(call installed,$(UNITDIR))/$${unit##*/} || \
	        exit 1; \
	done
	install -m 644 packaging/sysusers.d/*.conf $(call installed,$(SYSTEMDIR)/sysusers.d)
	install -m 644 packaging/tmpfiles.d/*.conf $(call installed,$(SYSTEMDIR)/tmpfiles.d)

## uninstall        removes what install wrote, and nothing else (PREFIX=, LIBDIR=, DESTDIR=)
# Folders stay: other programs may use them.
.PHONY: uninstall
uninstall:
	rm -f $(foreach file,$(wildcard include/tenon/*.h include/tenon/*/*.h),$(call installed,$(PREFIX)/$(file)))
	rm -f $(call installed,$(LIBDIR)/$(notdir $(NATIVE_SHARED)))
	rmdir $(foreach part,batch native tpm,$(call installed,$(PREFIX)/include/tenon/$(part))) \
	    $(call installed,$(PREFIX)/include/tenon) 2> /dev/null || true
	for name in tenon tenon-batch tenon-tpm; do \
	    for end in a so so.$(SOVERSION) so.$(VERSION); do rm -f $(call installed,$(LIBDIR))/lib$$name.$$end || exit 1; done; \
	    rm -f $(call installed,$(LIBDIR))/pkgconfig/$$name.pc || exit 1; \
	done
	for name in $(COMMAND_NAMES); do \
	    rm -f $(call installed,$(BINDIR))/$$name $(call installed,$(SHAREDIR)/bash-completion/completions)/$$name || exit 1; \
	done
	rm -f $(call installed,$(SHAREDIR)/man/man1/tenon.1) $(call installed,$(SHAREDIR)/man/man8/tenon-authority.8) \
	    $(foreach file,$(wildcard packaging/systemd/*),$(call installed,$(UNITDIR)/$(notdir $(file)))) \
	    $(foreach kind,sysusers.d tmpfiles.d,$(call installed,$(SYSTEMDIR)/$(kind)/tenon-authority.conf))

## deb              Debian packages for the release that this machine runs, in .build/packages: after `make` and `make commands`
PACKAGES := .build/packages
.PHONY: deb
deb: lib commands-built
	packaging/deb.sh $(VERSION) $(PACKAGES)

## check-packages   the packages of `make deb` in a root of their own: contents, a device's life, upgrades, removal (RELEASE=, OLD=)
# Those that `make in-root` has made: RELEASE=trixie PACKAGES=.build/roots/trixie.build/packages. OLD= is a folder with
# packages to upgrade from; Tests/Scripts/packages_old.sh makes it.
OLD ?=
.PHONY: check-packages
check-packages: $(TPM_STATE_FILE)
	Tests/Scripts/packages.sh $(RELEASE) $(PACKAGES) $(TPM_STATE) $(OLD)

## container-root   what packaging/Containerfile copies: the authority and its libraries, in .build/container; needs root
.PHONY: container-root
container-root:
	packaging/container.sh $(PACKAGES) .build/container

## dist             what is published of a release, in .build/dist: the sources of the last commit, an SBOM, checksums
.PHONY: dist
dist:
	PYTHON=$(PYTHON) packaging/dist.sh $(VERSION) .build/dist

## release-check    what a release must pass, from a clean clone of the last commit: about two hours, as root
.PHONY: release-check
release-check:
	packaging/release.sh
