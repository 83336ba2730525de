# Everything below needs only Python 3.11+, pip and make; the first call sets up .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Kernel tests run twice: compiled with the rest, then interpreted, so that the source is what is tested.
WORKERS ?= 2

.PHONY: help setup demo test test-all check format bench clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(STAMP)  ## create .venv and install the project with its development tools

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Sidelight needs Python 3.11 or newer; set PYTHON=/path/to/python")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(STAMP)

demo: $(STAMP)  ## the main job on a built-in graph: analysis, plan, play, figure
	@$(BIN)/sidelight demo

test: $(STAMP)  ## every law on representative cases, compiled, then the engine again without the compiler
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal $(SELECT)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -n $(WORKERS) $(SELECT) tests/engine

test-all: SELECT := -m ''  # also the tests marked `full`
test-all: test  ## the same with every case of every law

check: $(STAMP)  ## lint, formatting, types, import direction
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)  ## speed of the engine against its rivals; see benchmarks/README.md
	$(BIN)/python -m benchmarks.bench_engine

format: $(STAMP)  ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove caches, results and the environment
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis sidelight-demo
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
