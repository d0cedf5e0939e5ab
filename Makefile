# Everything here makes .venv first and installs what it needs into it; nothing else has to be set up.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PEERS := $(VENV)/.peers

.PHONY: help demo test test-slow lint format bench bench-scale bench-mnist clean

help:
	@echo "make demo       install, then kernel PCA of the digits: scores and pictures in demo/"
	@echo "make test       install, then the whole test suite (minutes)"
	@echo "make test-slow  the tests that take longer"
	@echo "make lint       style, types, import layers"
	@echo "make bench      gramian and its peers on the same data: a table of ratios"
	@echo "make bench-scale  a million rows through landmarks, and how good they are"
	@echo "make bench-mnist ARGS=folder   all 60,000 digits by kernel SVM"

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(READY)
	@$(BIN)/gramian demo --output demo

test: $(READY)
	$(BIN)/python -m pytest -m "not slow" $(ARGS)

test-slow: $(READY)
	$(BIN)/python -m pytest -m slow $(ARGS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(PEERS): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[peers]'
	@touch $@

bench: $(PEERS)
	$(BIN)/python -m benchmarks $(ARGS)

bench-scale: $(READY)
	$(BIN)/python -m benchmarks --scale $(ARGS)

bench-mnist: $(READY)
	$(BIN)/python -m benchmarks.mnist $(ARGS)

clean:
	rm -rf $(VENV) demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
