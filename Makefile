# Every target first makes .venv when it is missing or stale; python3 with venv is all it needs.
# `demo` installs only what a user needs (requirements/use.txt), the others what a developer needs.

PYTHON ?= python3
BIN := .venv/bin
USE := .venv/use.stamp
DEV := .venv/dev.stamp
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --require-virtualenv
PROJECT := $(PIP) --no-deps --no-build-isolation -e .

.PHONY: demo test check lint types docs lock bench bench-startup bench-fill bench-crash bench-placements

demo: $(USE)
	@$(BIN)/windtunnel demo

test: $(DEV)
	$(BIN)/pytest -n auto

check: lint types test

lint: $(DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: $(DEV)
	$(BIN)/mypy

docs: $(DEV)
	$(BIN)/python docs/reference/make.py

lock: $(DEV)
	$(BIN)/python requirements/lock.py

bench: bench-startup bench-fill bench-placements
	$(BIN)/python benchmarks/core.py

bench-startup: $(DEV)
	$(BIN)/python benchmarks/startup.py

bench-fill: $(DEV)
	$(BIN)/python benchmarks/fill.py
	$(BIN)/python benchmarks/fill.py --operated
	$(BIN)/python benchmarks/beside_real_cluster.py

bench-crash: $(DEV)
	$(BIN)/python benchmarks/crash.py

bench-placements: $(DEV)
	$(BIN)/python benchmarks/placements.py
	$(BIN)/python benchmarks/beside_real_scheduler.py

$(USE): requirements/use.txt pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing what windtunnel needs into .venv ..."
	@$(PIP) --require-hashes -r requirements/use.txt
	@$(PROJECT)
	@$(BIN)/python -m compileall -q src
	@touch $@

$(DEV): requirements/dev.txt $(USE)
	@echo "Installing what its tests need into .venv ..."
	@$(PIP) --require-hashes -r requirements/dev.txt
	@$(PROJECT)
	@touch $@
