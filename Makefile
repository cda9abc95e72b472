# make help lists the targets. Every target that builds first installs what is missing (scripts/bootstrap.sh).
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

SWIFT ?= swift
# Arguments of demo, bench and bench-import, for instance: make demo ARGS="--package vim"
ARGS ?=
# error: a compiler warning fails the build. For CI; a newer compiler's warnings are no reason to fail a user's build.
WARNINGS ?=
# Further options of every swift test run, for instance --filter.
TEST_FLAGS ?=
# Which suites `make test` runs a second time in release, where they reach more states; none when empty.
SWEEP_FILTER ?=
# How many states those suites visit, in `make test` and in `make soak`.
SWEEP_STATES ?= 100000
SOAK_STATES ?= 1000000

DEMO := Examples/PackageGraph
BENCHMARKS := Benchmarks
FLAGS := $(if $(filter error,$(WARNINGS)),-Xswiftc -warnings-as-errors)
SWIFT_FILES := git ls-files -z --cached --others --exclude-standard '*.swift'

.PHONY: help bootstrap demo test test-debug test-examples test-sweep bench bench-import soak format lint clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

bootstrap: ## Install what the build needs and the system lacks
	@scripts/bootstrap.sh

demo: bootstrap ## Import this machine's Debian package index into a store and ask it questions
	@$(SWIFT) build --package-path $(DEMO) -c release --product packagegraph
	@"$$($(SWIFT) build --package-path $(DEMO) -c release --show-bin-path)/packagegraph" $(ARGS)

test: test-debug test-examples test-sweep ## Run every test

test-debug: bootstrap ## Run the library's tests
	$(SWIFT) test $(FLAGS) $(TEST_FLAGS)

test-examples: bootstrap ## Run the example's tests
	$(SWIFT) test --package-path $(DEMO) $(FLAGS) $(TEST_FLAGS)

test-sweep: bootstrap ## Run the suites that SWEEP_FILTER names in release, over SWEEP_STATES states
ifneq ($(strip $(SWEEP_FILTER)),)
	STRATA_SWEEP_STATES=$(SWEEP_STATES) $(SWIFT) test -c release -Xswiftc -enable-testing $(FLAGS) --filter '$(SWEEP_FILTER)'
endif

soak: bootstrap ## Run every test in release over SOAK_STATES states; takes hours
	STRATA_SWEEP_STATES=$(SOAK_STATES) $(SWIFT) test -c release -Xswiftc -enable-testing $(FLAGS) $(TEST_FLAGS)

bench: ## Measure the store beside SQLite, LMDB and the bare disk
	@scripts/bootstrap.sh sqlite lmdb
	@$(BENCHMARKS)/run.sh $(ARGS)

bench-import: ## Measure the demo's import beside the same rows in SQLite
	@scripts/bootstrap.sh sqlite
	@scripts/compare-import.sh $(ARGS)

format: ## Format all Swift files in place
	@$(SWIFT_FILES) | xargs -0 $(SWIFT) format format --in-place --parallel

lint: ## Check the format of all Swift files
	@$(SWIFT_FILES) | xargs -0 $(SWIFT) format lint --strict --parallel

clean: ## Remove everything that was built
	rm -rf .build $(DEMO)/.build $(BENCHMARKS)/.build $(BENCHMARKS)/PackageGraphSQLite/.build
