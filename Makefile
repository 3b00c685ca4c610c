# Everything that is installed is installed by `make setup` and its siblings; every other target calls them.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SERVE  ?= 1
PORT   ?= 8000
UV     := $(BIN)/uv pip install --quiet --python $(BIN)/python

.PHONY: help setup setup-dev setup-slow system-packages test-models demo test test-slow lint fmt types bench lock clean
.DEFAULT_GOAL := help

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(VENV)/.uv: requirements/bootstrap.lock
	@tools/check_python.sh "$(PYTHON)"
	@test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements/bootstrap.lock
	@touch $@

$(VENV)/.base: $(VENV)/.uv requirements/base.lock pyproject.toml
	@echo "Installing memport and its locked dependencies into $(VENV) …"
	@$(UV) --require-hashes -r requirements/base.lock
	@$(UV) --no-deps -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.base requirements/dev.lock
	@echo "Installing the test and lint tools …"
	@$(UV) --require-hashes -r requirements/dev.lock
	@touch $@

# sentence-transformers and torch live apart: the product's embedded default needs neither.
.venv-torch/.torch: requirements/torch.txt
	@echo "Installing sentence-transformers and torch into .venv-torch (for the slow tests) …"
	@test -x .venv-torch/bin/python || "$(PYTHON)" -m venv .venv-torch
	@.venv-torch/bin/python -m pip install --quiet -r requirements/torch.txt
	@touch $@

setup: $(VENV)/.base  ## Install memport into .venv from the lock file

setup-dev: $(VENV)/.dev  ## The same with the test and lint tools

setup-slow: setup-dev .venv-torch/.torch  ## The same with torch, in its own environment

system-packages:
	@tools/system_packages.sh

test-models: setup
	@$(BIN)/memport models fetch smollm2-135m-instruct-q4_1 all-minilm-l6-v2 paraphrase-minilm-l3-v2

demo: setup  ## Measure a real migration on real models and serve the dashboard (SERVE=0: end after the verdicts)
	@$(BIN)/memport demo --port $(PORT) $(if $(filter 0,$(SERVE)),--no-serve)

test: setup-dev system-packages test-models  ## Run the test suite (real PostgreSQL, Redis, Chromium, small real models)
	$(BIN)/pytest -n 2 --dist loadfile --cov --cov-report=term:skip-covered tests/unit tests/integration tests/web tests/reference

test-slow: setup-slow system-packages test-models  ## Run what takes longer: simulations, soaks, sentence-transformers
	MEMPORT_TORCH_PYTHON=$(CURDIR)/.venv-torch/bin/python $(BIN)/pytest -n 2 --dist loadfile tests/slow

lint: setup-dev  ## ruff and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

fmt: setup-dev  ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

types: setup-dev  ## Type-check (strict on the pure packages)
	$(BIN)/mypy

bench: setup-dev test-models  ## Measure speed and memory (LONG=1: 50 million rows, too); writes var/bench.json
	$(BIN)/python -m tools.bench $(if $(LONG),--long)

lock: setup-dev  ## Compile the lock files again from pyproject.toml
	$(BIN)/uv pip compile -q requirements/bootstrap.in --universal --generate-hashes --no-header -o requirements/bootstrap.lock
	$(BIN)/uv pip compile -q pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header -o requirements/base.lock
	$(BIN)/uv pip compile -q pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes --no-header -c requirements/base.lock -o requirements/dev.lock

clean:  ## Remove environments and caches; keeps var/ (database, models)
	rm -rf .venv .venv-torch staticfiles .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
