# Each target is a script of pg_test/tools; this file is their index.
#
# PG=15|16|17|18|19 chooses the PostgreSQL (default: 15, or what the system offers),
# FULL=1 the long form of the tests that have one. Servers, builds and logs are kept in
# /var/cache/pg_mint as root, ~/.cache/pg_mint otherwise (PG_MINT_CACHE changes it).
MAKEFLAGS += --no-print-directory
TOOLS := pg_test/tools
PG ?=
PG_CONFIG ?=
export SEEDS FULL ONLY QUICK BENCH RIVALS DESTDIR HA CITUS NEIGHBORS

.PHONY: all install uninstall installcheck clean help run stop test test-all drivers citus neighbors torture arm64 lint bench instructions docs \
	expected package dist chroot

all: ## build the library for a server of yours: make PG_CONFIG=/path/to/pg_config
	@$(TOOLS)/build.sh "$(PG_CONFIG)" >/dev/null

install: ## build, and install into that server, or below DESTDIR
	@$(TOOLS)/install.sh "$(PG_CONFIG)"

uninstall: ## remove from that server, or below DESTDIR, what install put there
	@$(TOOLS)/install.sh --remove "$(PG_CONFIG)"

installcheck: ## test what is installed in a running server (PGHOST, PGPORT ...)
	@$(TOOLS)/installcheck.sh "$(PG_CONFIG)"

clean: ## remove what make built; servers and tests keep theirs
	@$(TOOLS)/build.sh --clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## from nothing to a running server with pg_mint, and a tour of it
	@$(TOOLS)/run.sh $(PG)

stop: ## stop the server that make run started
	@$(TOOLS)/run.sh --stop

test: ## all tests on one PostgreSQL (PG=15, FULL=1), or ONLY=text: those with the text in their names
	@$(TOOLS)/test.sh $(PG)

test-all: ## most tests on PostgreSQL 15, those that depend on the version on 16 to 19 (FULL=1: all on each)
	@$(TOOLS)/test_all.sh

drivers: ## ORMs, migration tools, drivers and a pooler on a server with pg_mint; installs them (PG=15)
	@$(TOOLS)/drivers.sh "$(or $(PG_CONFIG),$(PG))"

citus: ## a Citus cluster with pg_mint, a tour of it and its tests (CITUS=folder or archive of its source, PG=16 to 18, BENCH=1 to measure inserts and a day of a year)
	@$(TOOLS)/citus.sh $(PG)

neighbors: ## other extensions and programs beside pg_mint (NEIGHBORS=folder with their sources, PG=15 to 18, BENCH=1 to measure hypertables)
	@$(TOOLS)/neighbors.sh $(PG)

torture: ## servers put through one fault after another (MINUTES=10, PG=15, TORTURE=fleet for a registry and its members, TORTURE=citus, HA=1 for Patroni)
	@$(TOOLS)/torture.sh $(or $(MINUTES),$(if $(HA),30,10)) $(PG)

arm64: ## PostgreSQL of arm64 with pg_mint under an emulator, and the threads of the core by Miri (PG=15, SEEDS=16); takes an hour
	@$(TOOLS)/arm64.sh $(PG)

lint: ## formatting, clippy, English, names in SQL, the layout of the code, and links of the documents
	@$(TOOLS)/lint.sh

bench: ## measure it beside what it replaces (PG=15, QUICK=1, BENCH="bulk word": these sections; BENCH=compare RIVALS=folder: beside other extensions)
	@$(TOOLS)/bench.sh $(PG)

instructions: ## count the instructions of an id, and fail above the limit (PG=15, FULL=1: of the core's hot paths as well)
	@$(TOOLS)/instructions.sh $(PG)

docs: ## README.md and docs/ as one site, by mdBook, with its links checked
	@$(TOOLS)/docs.sh

expected: ## accept what pg_regress and pg_isolation_regress printed as expected (PG=15)
	@pg_config=$$($(TOOLS)/postgres.sh $(or $(PG),15)) && $(TOOLS)/install.sh $$pg_config && \
		$(TOOLS)/regress.sh --accept $$pg_config && $(TOOLS)/isolation.sh --accept $$pg_config

package: ## Debian packages for the servers of this Debian (ARCHITECTURE=arm64: those of arm64, built on x86-64)
	@$(TOOLS)/package.sh

dist: ## the archive for PGXN, installed once by its client
	@$(TOOLS)/dist.sh

chroot: ## packages, make run and make test in a clean Debian stable, as an ordinary user; takes an hour, needs root
	@$(TOOLS)/chroot.sh
