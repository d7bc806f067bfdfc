# Two commands for a newcomer: `make demo` judges the sample conversations, `make test` passes the tests.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin

.PHONY: demo test lint types floors tests docs bench soak clean

demo: .venv/installed
	$(BIN)/dialogauge judge examples -o runs/demo

test: lint types floors tests

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed-dev
	$(BIN)/mypy
	$(BIN)/mypy tests/typing

floors: .venv/installed-dev
	$(BIN)/lint-imports

# Last, so that the test runner's summary closes the output.
tests: .venv/installed-dev
	$(BIN)/python -m pytest -n auto --dist loadgroup

docs: .venv/installed-dev
	$(BIN)/python tools/command_reference.py

bench: .venv/installed-dev
	$(BIN)/python -m benchmarks

# The long campaigns; `make test` runs a short version of each.
soak: .venv/installed-dev
	$(BIN)/python -m benchmarks.faults
	$(BIN)/python -m benchmarks.fuzz --inputs 100000

clean:
	rm -rf .venv runs build dist

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

.venv/installed-dev: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ .venv/installed
