# Everything here makes .venv first and installs what it needs into it; nothing else has to be set up.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PEERS := $(VENV)/.peers
DOCS := $(VENV)/.docs
BROWSER := $(VENV)/.browser
FLOOR := .venv-floor

.PHONY: help demo test test-slow test-browser test-floor mutants coverage lint format docs bench bench-everyday bench-scale bench-cluster bench-mnist bench-explore clean

help:
	@echo "make demo       install, then kernel PCA of the digits: scores and pictures in demo/"
	@echo "make test       install, then every test of under a second (minutes)"
	@echo "make test-slow  the tests that take longer, or a process of their own"
	@echo "make test-browser  the report and the explorer in chromium (installed from Debian's packages if missing)"
	@echo "make test-floor  the tests, but docs and examples, with the oldest versions that are promised (floor.txt)"
	@echo "make mutants    small slips put into five modules: how many do the tests notice? (minutes)"
	@echo "make coverage   which lines the tests do not run; under 95 % is an error"
	@echo "make lint       style, types, import layers, calls that are not safe"
	@echo "make docs       these pages as HTML, in docs/_build/html (offline; warnings are errors)"
	@echo "make bench      gramian and its peers on the same data: a table of ratios"
	@echo "make bench-everyday  ordinary calls at ordinary sizes: ratios to the peers, the worst ten, the geometric mean"
	@echo "make bench-scale  a million rows through landmarks, and how good they are"
	@echo "make bench-cluster  two worker processes against one; memory, traffic and a cost model at three sizes"
	@echo "make bench-mnist ARGS=folder   all 60,000 digits by kernel SVM"
	@echo "make bench-explore  the explorer in chromium: from slider to picture, 200,000 points, ten clients"

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(READY)
	@$(BIN)/gramian demo --output demo

test: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow and not browser" $(ARGS)

test-slow: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal -m "slow and not browser" $(ARGS)

$(BROWSER): $(READY)
	command -v chromium >/dev/null || { apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[browser]'
	@touch $@

test-browser: $(BROWSER)
	$(BIN)/python -m pytest -m browser $(ARGS)

$(FLOOR)/.ready: pyproject.toml floor.txt
	$(PYTHON) -m venv $(FLOOR)
	$(FLOOR)/bin/python -m pip install --quiet --disable-pip-version-check -c floor.txt -e '.[dev]'
	@touch $@

# Old packages use what newer neighbours of theirs call deprecated; that is no fault of ours. Pages and examples show what
# the versions of constraints.txt print. Of the kept pictures three are not as an old matplotlib draws them: it shades
# points in space less with their depth, and puts the edges of the cells of an image up to a pixel elsewhere.
KEPT := tests/plots/test_images.py::test_the_picture_is_the_one_that_was_kept_drawn_where_it_should_be
test-floor: $(FLOOR)/.ready
	$(FLOOR)/bin/python -m pytest -n auto --dist worksteal -m "not slow and not browser" -W ignore::DeprecationWarning \
		--ignore tests/docs --ignore tests/examples --deselect "$(KEPT)[scores_in_space]" \
		--deselect "$(KEPT)[heat]" --deselect "$(KEPT)[reconstructions]" $(ARGS)

mutants: $(READY)
	$(BIN)/python tools/mutants.py $(ARGS)

# One test runs on a disk without room for the data of coverage.
coverage: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow and not browser" --cov --cov-report=term-missing \
		--deselect tests/cli/test_surroundings.py::test_a_disk_that_is_full_keeps_the_old_files $(ARGS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit -q -c pyproject.toml -r src

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(DOCS): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@touch $@

docs: $(DOCS)
	$(BIN)/sphinx-build -W --keep-going -n -q -b html docs docs/_build/html
	$(BIN)/python docs/_ext/check_built.py docs/_build/html

$(PEERS): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[peers]'
	@touch $@

bench: $(PEERS)
	$(BIN)/python -m benchmarks $(ARGS)
	$(if $(ARGS),,$(BIN)/python -m benchmarks.flagship)

bench-everyday: $(PEERS)
	$(BIN)/python -m benchmarks.everyday $(ARGS)

bench-scale: $(READY)
	$(BIN)/python -m benchmarks --scale $(ARGS)

bench-cluster: $(READY)
	$(BIN)/python -m benchmarks.cluster $(ARGS)

bench-mnist: $(READY)
	$(BIN)/python -m benchmarks.mnist $(ARGS)

bench-explore: $(BROWSER)
	$(BIN)/python -m benchmarks.explore

clean:
	rm -rf $(VENV) $(FLOOR) demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage .coverage.* docs/_build docs/lessons docs/gallery docs/api/generated docs/sg_execution_times.rst
