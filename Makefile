# Everything a developer does. On a fresh machine with Python 3.11, pip and make: `make demo`, `make test`.
.ONESHELL:
.SHELLFLAGS := -eu -c
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
# the certificates of the machine, as pip uses them
export UV_SYSTEM_CERTS := 1
RUN := $(BIN)/python -m
INSTALL = $(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --compile-bytecode

.PHONY: setup lint types test browser slow full golden bench docs demo ci clean
.DEFAULT_GOAL := test

$(BIN)/uv: ; $(PYTHON) -m venv .venv && $(RUN) pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
.venv/.core: pyproject.toml constraints.txt | $(BIN)/uv ; $(INSTALL) --editable . && touch $@
.venv/.test: .venv/.core ; $(INSTALL) --editable '.[all]' --group test && touch $@
.venv/.lint: .venv/.test ; $(INSTALL) --group lint && touch $@

setup: .venv/.lint  ## install everything for development

lint: .venv/.lint  ## rules, layers, docstrings, dependencies, spelling
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	PYTHONPATH=tests/support $(BIN)/lint-imports --no-logo >/dev/null || PYTHONPATH=tests/support $(BIN)/lint-imports
	$(BIN)/interrogate --quiet src
	$(BIN)/deptry src 2>/dev/null || $(BIN)/deptry src
	$(BIN)/codespell README.md CONTRIBUTING.md src tests docs examples benchmarks changelog.d

types: .venv/.lint  ## strict types; this is what keeps data out of labels
	$(BIN)/basedpyright

test: .venv/.test  ## the fast set: nothing but Python is needed
	OPENBLAS_NUM_THREADS=1 $(RUN) pytest -q -n auto --dist worksteal -m "not slow and not full"

browser:  ## the tests of the report need one; installed where that is allowed
	@command -v chromium chromium-browser google-chrome >/dev/null && exit 0
	@echo "installing chromium for the browser tests"
	@(apt-get install -qq -y chromium || (apt-get update -qq && apt-get install -qq -y chromium)) >/dev/null 2>&1 \
	  || { echo "no browser, and no permission to install one: install chromium, then make slow"; exit 1; }

slow: .venv/.test browser  ## real data (HEDGEROW_DATA), real components, minutes
	OPENBLAS_NUM_THREADS=1 $(RUN) pytest -q -n auto --dist worksteal -m slow

full: .venv/.test  ## all replay pairs, all random databases: hours, by hand; commit the figures in docs/results/full
	OPENBLAS_NUM_THREADS=1 $(RUN) pytest -q -n auto --dist worksteal -m full

golden: .venv/.test  ## rewrite the golden files, then look at the diff
	HEDGEROW_GOLDEN=1 $(RUN) pytest -q tests/laws/test_golden.py tests/laws/test_golden_releases.py tests/cli/test_cli.py \
	  tests/house/test_docs.py::test_the_page_of_methods_is_what_the_registry_says
	git diff --stat -- tests/golden docs/methods.md

bench: .venv/.test  ## ratios measured in one run: noise, the whole job, and every method that has a benchmark
	$(BIN)/python benchmarks/noise.py
	$(BIN)/python benchmarks/end_to_end.py
	$(BIN)/python benchmarks/methods.py
	$(BIN)/python benchmarks/pages.py

docs: .venv/.test  ## run every block of code in the documents
	$(RUN) pytest -q tests/house/test_docs.py tests/house/test_adding.py

demo: .venv/.core  ## the main job on built-in data
	$(BIN)/hedgerow demo --out out/demo

ci: lint types test slow  ## what runs before anything lands

clean: ; rm -rf .venv dist .pytest_cache .ruff_cache .hypothesis
