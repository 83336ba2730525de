# Everything below needs only Python 3.11+, pip and make; the first call sets up .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Kernel tests run twice: compiled with the rest, then interpreted, so that the source is what is tested.
KERNELS := $(shell find tests -name "test_*kernels.py")
WORKERS ?= 2

.PHONY: help setup demo docs test test-all test-oldest check format fuzz bench clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 13

setup: $(STAMP)  ## create .venv and install the project with its development tools

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Sidelight needs Python 3.11 or newer; set PYTHON=/path/to/python")'
	@echo "setting up $(VENV), about a minute"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(STAMP)

demo: $(STAMP)  ## the main job on a built-in graph: analysis, plan, play, figure
	@$(BIN)/sidelight demo

docs: $(STAMP)  ## build the site docs/_build/html/index.html, run its notebooks; a warning is an error
	$(BIN)/python -m sphinx -E -q -W --keep-going -n -b html docs docs/_build/html

test: $(STAMP)  ## every law on representative cases, compiled, then the engine again without the compiler
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal $(SELECT)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -n $(WORKERS) $(SELECT) tests/engine $(KERNELS)

test-all: SELECT := -m ''  # also the tests marked `full`
test-all: test  ## the same with every case of every law

# The oldest Python and the oldest versions that pyproject.toml allows; what they warn of is not ours to mend.
OLDEST := .venv-oldest
OLDEST_TESTS := tests/test_public_api.py tests/environment tests/report tests/cli/test_analyze.py tests/experiment/sweep/test_folder.py

test-oldest:  ## a quick selection with the oldest versions of all dependencies (Python 3.11 or 3.12)
	$(PYTHON) -m venv $(OLDEST)
	sed -nE '/^dependencies/,/^]/s/^  "([A-Za-z0-9_-]+)>=([0-9.]+)",.*/\1==\2/p' pyproject.toml > $(OLDEST)/oldest.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -c $(OLDEST)/oldest.txt . pytest hypothesis mpmath
	$(OLDEST)/bin/python -m pytest -q -W ignore::DeprecationWarning -W ignore::ImportWarning $(OLDEST_TESTS)

check: $(STAMP)  ## lint, formatting, types, import direction
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fuzz: $(STAMP)  ## ten thousand altered saved policies, plans and stores: refused with a reason, or in order
	SIDELIGHT_FUZZ=10000 $(BIN)/python -m pytest -q -s tests/policy/test_fuzz_saved.py tests/policy/test_plan_file.py \
		tests/service/test_damage.py

bench: $(STAMP)  ## speed of the engine against its rivals; see benchmarks/README.md
	$(BIN)/python -m benchmarks.bench_engine

format: $(STAMP)  ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove caches, results and the environment
	rm -rf $(VENV) $(OLDEST) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis sidelight-demo docs/_build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
