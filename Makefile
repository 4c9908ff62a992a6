PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test test-slow lint types bench wheel clean

demo: .venv/core  ## the main job on the bundled sample: offline, no key
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/demo

test: .venv/dev  ## the whole default suite
	$(BIN)/pytest

test-slow: .venv/dev  ## what takes long or loads a model
	$(BIN)/pytest --run-slow -m slow

lint: .venv/dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check

types: .venv/dev
	$(BIN)/mypy

bench: .venv/dev  ## speed beside the researcher's own loop, as ratios; takes a quarter of an hour
	$(BIN)/python tests/bench/lexical.py
	$(BIN)/python tests/bench/neural.py
	$(BIN)/python tests/bench/judge.py

wheel: .venv/dev  ## build a wheel and use it from another folder, in a fresh environment
	scripts/check_wheel

clean:
	rm -rf .venv demo dist build

.venv/core: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(INSTALL) --upgrade pip
	$(INSTALL) --editable .
	@touch $@

.venv/dev: .venv/core
	$(INSTALL) torch
	$(INSTALL) --editable '.[eval]' --group dev --group models
	@touch $@
