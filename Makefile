# Needs Python >= 3.11, make and access to PyPI; everything else is made here, in .venv/ and .tools/.
.DEFAULT_GOAL := help
.PHONY: help demo measure test test-slow lint format hooks bench lock clean
.DELETE_ON_ERROR:

export PYTHON # which interpreter to use: make PYTHON=/path/to/python3.12 test

UV := scripts/uv.sh
BIN := .venv/bin
READY := .venv/.ready
BENCH := build/bench-env
OLDEST := build/oldest-spark
PYTEST_FLAGS ?= # -n auto on a machine with many cores; with two, the workers cost more than they gain
BENCH_FLAGS ?= # make bench BENCH_FLAGS="--data DIR --only tc:RAND-1k": docs/benchmarks.md lists them
LOCK_FLAGS ?= # make lock LOCK_FLAGS=--upgrade moves every pin to its newest release

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

demo: $(READY) ## run an example through the Spark pipeline, print its answer and timings
	@$(BIN)/python scripts/demo.py

# What needs Java waits for it most of the time, so it runs beside the rest; examples of the docs use the session of the
# tests before them. Kernels are compiled first, once for both. The output of each command is shown whole, that of the
# first as it goes; Ctrl-C ends all of them.
WITH_JAVA := tests/spark tests/unit/docs
test: $(READY) ## everything CI runs: lint, types, imports, tests, doctests; samples where tests are many
	@$(BIN)/python -c 'from flintlog.engines.local.kernels.library import kernels; kernels()'
	@$(BIN)/python scripts/side_by_side.py $(BIN)/pytest $(WITH_JAVA:%=--ignore=%) $(PYTEST_FLAGS) \
		-- $(BIN)/pytest $(WITH_JAVA) -o cache_dir=.pytest_cache/spark $(PYTEST_FLAGS) \
		-- $(MAKE) --no-print-directory lint
	@scripts/green.sh "make test: all checks passed"

# A test there may run tests in a process of its own, for two hours; tests/spark/test_clusters.py has the limits of these.
HOURS := -o timeout=3600 -o faulthandler_timeout=9000
test-slow: $(READY) $(OLDEST)/.ready ## the slow lane, for hours: slow tests, whole samples, Spark's tests with its oldest release
	HYPOTHESIS_PROFILE=search $(BIN)/pytest -m 'slow or sampled' $(HOURS) $(PYTEST_FLAGS)
	$(OLDEST)/bin/pytest tests/spark -m 'not slow or sampled' $(HOURS) $(PYTEST_FLAGS)

measure: $(READY) ## how long the compiler takes for a thousand rules
	@$(BIN)/python scripts/measure.py

lint: $(READY) ## ruff, mypy, import-linter and the subjects of new commits, no tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python scripts/check_commits.py

format: $(READY) ## rewrite the code as ruff wants it
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

hooks: ## let git check the subject of each new commit
	@scripts/hooks.sh

bench: $(READY) $(BENCH)/.ready ## measure Flintlog and its rivals
	$(BENCH)/bin/python -m benchmarks run $(BENCH_FLAGS)

LOCK := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	--custom-compile-command "make lock"
lock: ## remake the lock files from pyproject.toml
	$(LOCK) --extra spark --group dev $(LOCK_FLAGS) --output-file requirements.lock pyproject.toml
	$(LOCK) --extra spark --group dev --group oldest-spark $(LOCK_FLAGS) --output-file tests/spark/oldest.lock pyproject.toml
	$(LOCK) --group bench $(LOCK_FLAGS) --output-file benchmarks/requirements.lock

clean: ## remove everything make made
	rm -rf .venv .tools build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find src tests scripts examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp lives inside .venv, so removing or replacing the environment also removes the claim that it is ready.
$(READY): requirements.lock pyproject.toml
	@$(BIN)/python -c '' 2>/dev/null || { python=$$(scripts/find-python.sh) && rm -rf .venv && $(UV) venv --quiet --python "$$python" .venv; }
	$(UV) pip sync --quiet --compile-bytecode --python $(BIN)/python --require-hashes requirements.lock
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q src
	@touch $@

# An environment like .venv, with the oldest Spark that is supported.
$(OLDEST)/.ready: tests/spark/oldest.lock pyproject.toml
	@$(OLDEST)/bin/python -c '' 2>/dev/null || { python=$$(scripts/find-python.sh) && rm -rf $(OLDEST) && $(UV) venv --quiet --python "$$python" $(OLDEST); }
	$(UV) pip sync --quiet --python $(OLDEST)/bin/python --require-hashes tests/spark/oldest.lock
	$(UV) pip install --quiet --python $(OLDEST)/bin/python --no-deps --no-build-isolation --editable .
	@touch $@

# The rivals and the plots have an environment of their own: nothing in it can change what Flintlog is tested or measured with.
$(BENCH)/.ready: benchmarks/requirements.lock
	@$(BENCH)/bin/python -c '' 2>/dev/null || { python=$$(scripts/find-python.sh) && rm -rf $(BENCH) && $(UV) venv --quiet --python "$$python" $(BENCH); }
	$(UV) pip sync --quiet --python $(BENCH)/bin/python --require-hashes benchmarks/requirements.lock
	@touch $@
