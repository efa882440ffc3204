# The front door of Raddle. Meson and ninja do the building; the scripts in tools/ do the rest.
#
#   make run                        see it work
#   make test                       everything a change has to pass before it is committed
#   make test T=policy              only the test programs whose name contains "policy"
#   make CC=clang BUILD=build-clang another compiler, another folder

BUILD  ?= build
PREFIX ?= /usr/local
T      ?=

# make's built-in CC is no choice of the user's: only a CC from outside reaches meson.
ifneq ($(origin CC),default)
export CC
endif

.DEFAULT_GOAL := all
.PHONY: all run test ci nightly wasm tidy format bench bench-go bench-peers bench-load scoreboard install clean setup help

all: setup ## build everything: build/raddle, build/libraddle{,-lab}.{a,so}, examples, tests, benches
	@tools/build.sh $(BUILD)
	@tools/wasm.sh $(BUILD) --able

run: setup ## set up, build, and take the tour
	@tools/build.sh $(BUILD) command
	@$(BUILD)/raddle tour
	@echo; echo "The command is $(BUILD)/raddle; to type it as above: PATH=\$$PWD/$(BUILD):\$$PATH"

test: all ## set up, build, run every test; T=word selects programs
	@tools/run_tests.sh $(BUILD) $(T)

ci: ## what the server runs: two compilers, sanitizers, digests, fuzzing, planted bugs, tidy, format
	@tools/setup.sh build ci wasm
	@tools/ci.sh

nightly: ## what ci leaves out, long fuzzing, all planted bugs, mutants, tests/nightly; PART=1/8: one part; PART=fuzz: one check
	@tools/setup.sh build ci wasm nightly
	@tools/nightly.sh $(PART)

wasm: ## build/session.wasm, the session machine for browsers, and a page that shows it: build/web/index.html
	@tools/setup.sh build wasm
	@tools/wasm.sh $(BUILD)
	@echo "open $(BUILD)/web/index.html in a browser"

tidy: setup ## check the rules a compiler does not know (include table, lengths, banned calls ...)
	@tools/build.sh $(BUILD) tests/tidy
	@$(BUILD)/tests/tidy .
	@tools/planted.sh --check

format: ## lay out every C file with clang-format
	@tools/setup.sh format
	@tools/format.sh

bench: all ## run the benchmarks, print their tables, leave build/bench.json
	@tools/bench.sh $(BUILD)

bench-peers: all ## executor, fibers, explore beside Go, Tokio, oneTBB, Relacy ... (Debian packages); R=5 repetitions
	@tools/build_peers.sh $(BUILD)
	@status=0; for suite in exec fibers scenes explore; do \
	    bench/run_peers.sh $(BUILD) --suite $$suite $(if $(R),--repetitions $(R)) || status=1; \
	done; exit $$status

# What a change of executor or fibers moves most; under ten minutes.
bench-go: all ## the rows of executor and fibers that matter most, beside Go only, in minutes; R=5 repetitions
	@tools/build_peers.sh $(BUILD) go
	@status=0; \
	bench/run_peers.sh $(BUILD) --suite exec --beside "raddle go" $(if $(R),--repetitions $(R)) \
	    --only "fib spawn1 wake wake5ms" || status=1; \
	bench/run_peers.sh $(BUILD) --suite fibers --beside "raddle go" $(if $(R),--repetitions $(R)) --cpu \
	    --only "yield spawn1 cold pingpong select4 mutex unpark unpark5ms startup nursery sleepers sleep100k" || status=1; \
	exit $$status

bench-load: all ## raddle load beside wrk and h2load on nginx (Debian packages); R=5 rounds
	@tools/setup.sh peer_servers peer_generators
	@bench/run_load.sh build 5 $(or $(R),5)

scoreboard: all ## run the scoreboards of the lab, leave build/scoreboard.json
	@tools/scoreboard.sh $(BUILD)

install: all ## install binary, headers, libraries, pkg-config files; PREFIX and DESTDIR as usual
	@meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	@tools/build.sh $(BUILD)
	@meson install -C $(BUILD) --no-rebuild $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))

clean: ## remove what was built
	rm -rf build build-*

setup: # install the Debian packages the build and the tests need, if any is missing
	@tools/setup.sh build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile
