# Every verb sets up what it needs in .venv and build/; a second run redoes nothing.
#
#   PYTHON=python3.12    the interpreter to make .venv with
#   SANITIZE=thread      for cpp-test: sanitizers to build with (address,undefined or thread);
#                        for fuzz-packed: address,undefined
#   FUZZ_SECONDS=60      for fuzz: seconds of each target
#   SOAK_SECONDS=600     for soak: how long; an hour unless told
#   ARGS="--quick"       for demo, test, bench, guard, soak and fuzz-packed: passed on
#   JOBS=4               for test: processes to run the Python tests in; one per core unless told

PYTHON ?= python3
SANITIZE ?=
FUZZ_SECONDS ?= 60
SOAK_SECONDS ?= 3600
ARGS ?=
JOBS ?= logical

VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
STAMPS := $(VENV)/stamps
# -qq keeps pip to errors; its remarks on versions and caches are not ours to act on.
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
CMAKE := $(BIN)/cmake
COMMA := ,

# Folders are listed too: their times change when a file is added or removed.
# Or make would try to build the folder cpp/codec/reconstruct from reconstruct.cpp beside it.
MAKEFLAGS += --no-builtin-rules
NATIVE_SOURCES := CMakeLists.txt $(shell find cpp -not -path 'cpp/tests/*' -not -path 'cpp/guard/*')
CPP_FILES = $(shell git ls-files -co --exclude-standard 'cpp/*.cpp' 'cpp/*.h' 'fuzz/*.cpp' 'fuzz/*.h')

.DEFAULT_GOAL := help
.PHONY: help setup demo test full-test quiet-test property-test lint format bench guard fuzz \
  fuzz-packed soak docs python-test cpp-test stub stub-check wheel-test clean system-packages browser

help: ## say what each verb does
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# ---- setting up ---------------------------------------------------------------------------------

setup: $(STAMPS)/package ## make .venv with the package, built, and the development tools

system-packages:
	@PYTHON="$(PYTHON)" scripts/system_packages.sh build

# Reports are looked at in a real browser, where one can be had.
browser:
	@scripts/system_packages.sh browser \
	  || echo "setup: NOTE: without a browser the tests that open reports in one are skipped."

$(STAMPS)/venv: | system-packages
	@echo "setup: making $(VENV)"
	@"$(PYTHON)" -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

# torch comes first: another package that asks for it might bring gigabytes of it.
HOOK := torchvision_beside_cpu_torch
$(STAMPS)/torch: requirements/torch.txt requirements/torchvision.txt scripts/$(HOOK).py \
  $(STAMPS)/venv
	@echo "setup: installing torch and torchvision (some 200 MB)"
	@$(PIP) install -r requirements/torch.txt \
	  && $(PIP) install --no-deps -r requirements/torchvision.txt \
	  || echo "setup: NOTE: the pinned torch or torchvision cannot be had for this Python or" \
	    "platform; comparisons with them will be skipped. To try again: rm $@"
	@libraries=$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') \
	  && cp scripts/$(HOOK).py "$$libraries" && echo "import $(HOOK)" >"$$libraries/$(HOOK).pth"
	@touch $@

$(STAMPS)/tools: requirements/build.txt requirements/tools.txt $(STAMPS)/torch
	@echo "setup: installing the tools"
	@$(PIP) install -r requirements/build.txt -r requirements/tools.txt
	@touch $@

$(STAMPS)/frameworks: requirements/frameworks.txt $(STAMPS)/tools
	@echo "setup: installing the frameworks to try out"
	@$(PIP) install -c requirements/torch.txt -c requirements/tools.txt \
	  -r requirements/frameworks.txt \
	  || echo "setup: NOTE: the pinned frameworks cannot be had for this Python or platform; their" \
	    "tests will be skipped. To try again: rm $@"
	@touch $@

$(STAMPS)/ray: requirements/ray.txt $(STAMPS)/frameworks
	@echo "setup: installing Ray"
	@$(PIP) install -c requirements/torch.txt -c requirements/tools.txt -r requirements/ray.txt \
	  || echo "setup: NOTE: the pinned Ray cannot be had for this Python or platform; its tests" \
	    "will be skipped. To try again: rm $@"
	@touch $@

$(STAMPS)/peers: requirements/peers.txt $(STAMPS)/tools
	@echo "setup: installing the libraries to compare with"
	@$(PIP) install -r requirements/peers.txt
	@touch $@

# Editable, so a change in Python needs nothing; and in a build folder that stays, so a change in
# C++ recompiles only what it touches.
$(STAMPS)/package: $(NATIVE_SOURCES) pyproject.toml $(STAMPS)/tools
	@echo "setup: building the package"
	@$(PIP) install --no-build-isolation --no-deps --editable . \
	  --config-settings=build-dir=build/extension \
	  --config-settings=cmake.define.PENSTOCK_TESTS=ON
	@touch $@

# ---- the verbs ----------------------------------------------------------------------------------

demo: setup ## analyze a plain pipeline, pack its photos, analyze again; writes a report
	@$(BIN)/penstock demo $(ARGS)

test: python-test cpp-test ## run all tests but the slow ones

full-test: SLOW := yes
full-test: python-test cpp-test ## run all tests: the slow ones and those of outside data, too

quiet-test: setup ## run the tests that judge timings, on a machine that does nothing else
	$(BIN)/python -m pytest -m quiet --quiet-machine $(ARGS)

# The other tests have the same examples each time: see tests/conftest.py.
property-test: setup $(STAMPS)/frameworks ## look for new examples that break a property
	$(BIN)/python -m pytest $(PARALLEL) --hypothesis-profile=search \
	  $$(git grep -l "^from hypothesis import" -- 'tests/*.py') $(ARGS)

lint: setup ## check style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@$(BIN)/clang-format --dry-run -Werror $(CPP_FILES)
	$(BIN)/python -m pytest tests/test_layers.py

format: setup ## put the code into house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP_FILES)

bench: setup $(STAMPS)/peers ## measure penstock and its peers side by side
	@scripts/system_packages.sh bench || echo "bench: NOTE: FFCV will be left out."
	@$(BIN)/penstock bench $(ARGS)

guard: setup ## count the instructions of the hot paths, and compare them with the last counts
	@scripts/system_packages.sh guard
	@$(CMAKE) --build build/extension --target penstock_guard -- --quiet
	@$(BIN)/python -m benchmarks.instructions $(ARGS)

fuzz: setup ## fuzz the parsers for FUZZ_SECONDS
	@scripts/system_packages.sh fuzz
	@CMAKE=$(CMAKE) NINJA=$(BIN)/ninja PYTHON=$(BIN)/python scripts/fuzz.sh $(FUZZ_SECONDS)
	@$(BIN)/python fuzz/packed_file.py --seconds $(FUZZ_SECONDS)

soak: setup ## random pipelines for an hour, with kills, faults and closes mixed in
	@$(BIN)/python -m soak --seconds $(SOAK_SECONDS) $(ARGS)

# Mutants of packed files only, as many as ARGS asks for: ARGS="--count 10000 --simd avx2".
# The sanitizers' own libraries must be there before Python's, which was built without them.
SANITIZED := build/extension-$(subst $(COMMA),-,$(SANITIZE))
PRELOADED = $(shell for name in asan stdc++; do $(CXX) -print-file-name=lib$$name.so; done)
fuzz-packed: setup
ifneq ($(SANITIZE),)
	@$(CMAKE) -S . -B $(SANITIZED) -G Ninja -DCMAKE_MAKE_PROGRAM=$(BIN)/ninja --log-level=WARNING \
	  -DCMAKE_BUILD_TYPE=Checked -DPENSTOCK_SANITIZE=$(SANITIZE) \
	  -DPython_EXECUTABLE=$(BIN)/python >/dev/null
	@$(CMAKE) --build $(SANITIZED) --target _core -- --quiet
	@LD_PRELOAD="$(PRELOADED)" ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
	  $(BIN)/python fuzz/packed_file.py --core $(SANITIZED)/_core.*.so $(ARGS)
else
	@$(BIN)/python fuzz/packed_file.py $(ARGS)
endif

docs: setup ## check the links and write the API pages to build/docs
	$(BIN)/python scripts/check_links.py
	$(BIN)/python scripts/build_docs.py

# ---- parts of the verbs, used by .ci/run ---------------------------------------------------------

# A file's tests stay in one process, since they share what is dear to make; in the order of
# tests/conftest.py, where those that take longest come first.
PARALLEL = -n $(JOBS) --dist loadfile --no-loadscope-reorder
python-test: setup $(STAMPS)/frameworks $(STAMPS)/ray browser
	$(BIN)/python -m pytest $(PARALLEL) $(if $(SLOW),,-m "not slow") $(ARGS)

# Without a sanitizer the tests link the library that the extension was built from.
CPP_BUILD := $(if $(SANITIZE),build/sanitize-$(subst $(COMMA),-,$(SANITIZE)),build/extension)
cpp-test: setup
ifneq ($(SANITIZE),)
	@$(CMAKE) -S . -B $(CPP_BUILD) -G Ninja -DCMAKE_MAKE_PROGRAM=$(BIN)/ninja --log-level=WARNING \
	  -DCMAKE_BUILD_TYPE=Checked -DPENSTOCK_EXTENSION=OFF -DPENSTOCK_TESTS=ON \
	  -DPENSTOCK_SANITIZE=$(SANITIZE) >/dev/null
endif
	@$(CMAKE) --build $(CPP_BUILD) --target cpp/tests/all -- --quiet
	$(BIN)/ctest --test-dir $(CPP_BUILD) --output-on-failure --no-tests=error -j $$(nproc)

stub: setup ## write the extension's type stub into src/ after a change of the bindings
	cp build/extension/_core.pyi src/penstock/_core.pyi

stub-check: setup
	@diff -u src/penstock/_core.pyi build/extension/_core.pyi \
	  || { echo "src/penstock/_core.pyi is not what the bindings give. Run: make stub"; exit 1; }

wheel-test: setup
	@PIP="$(PIP)" scripts/wheel_test.sh $(BIN)/python

clean: ## remove .venv and build/
	rm -rf $(VENV) build
