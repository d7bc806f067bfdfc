# Two commands for a newcomer: `make demo` judges the sample conversations, `make test` passes the tests.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
# One more than cores: tests wait for servers and deadlines.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')

.PHONY: demo test test-all lint types floors tests tests-all package docs site bench soak servers trainers memories inspect clean

demo: .venv/installed
	$(BIN)/dialogauge demo

test: lint types floors tests

# What CI runs: every test, with all examples. `make test` leaves out those that are marked `long`.
test-all: lint types floors tests-all

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed-dev
	$(BIN)/mypy
	$(BIN)/mypy tests/typing

floors: .venv/installed-dev
	$(BIN)/lint-imports

# What a test starts is read from bytecode, even where the machine keeps none: it would compile all of us again.
tests tests-all: export PYTHONDONTWRITEBYTECODE :=

# Last, so that the test runner's summary closes the output.
tests: .venv/installed-dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --short

tests-all: .venv/installed-dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

# What an installation gets: wheel and source distribution, checked, and the wheel run away from the clone.
# `make package PYTHON=python3.13` runs it with another Python.
package:
	rm -rf dist build
	$(PYTHON) -m venv build/tools
	build/tools/bin/python -m pip install --quiet --disable-pip-version-check 'build>=1.2' 'twine>=6.1'
	build/tools/bin/python -m build --outdir dist .
	build/tools/bin/python -m twine check --strict dist/*
	$(PYTHON) -m venv build/installed
	build/installed/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd build && installed/bin/dialogauge demo -o demo >demo.txt
	tail -n 1 build/demo.txt

docs: .venv/installed-dev
	$(BIN)/python tools/command_reference.py
	$(BIN)/python tools/library_reference.py
	$(BIN)/python tools/json_reference.py

# The documents as a site, in build/site; a link that leads nowhere is an error.
site: docs
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'mkdocs>=1.6,<2'
	$(BIN)/python -m mkdocs build --quiet

bench: .venv/installed-dev
	$(BIN)/python -m benchmarks

# The long campaigns; `make test-all` runs a short version of each. Inputs and examples are new each time, drawn
# from the seed that is printed: `make soak SEED=...` draws the same again.
soak: SEED := $(strip $(shell od -An -N4 -tu4 /dev/urandom))
soak: .venv/installed-dev
	@echo seed $(SEED)
	$(BIN)/python -m benchmarks.faults
	$(BIN)/python -m benchmarks.fuzz --inputs 100000 --seed $(SEED)
	$(BIN)/python -m pytest -m hypothesis --hypothesis-profile=fresh --hypothesis-seed=$(SEED)

# Real model servers with a tiny model; installing them takes a quarter of an hour, mostly to build one.
servers: .venv/installed-dev .venv-servers/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'torch==2.13.0' 'transformers>=4.50'
	$(BIN)/python -m benchmarks.servers

# The readers of LLaMA-Factory, verl and OpenRLHF on our files, each in an environment of its own under
# build/trainers: five gigabytes. A fresh machine takes ten minutes.
trainers: .venv/installed-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'torch==2.13.0' 'transformers>=4.56'
	$(BIN)/python -m benchmarks trainers

# Mem0 and A-Mem by their own packages, against a stub model, each in an environment of its own under
# build/memories: 2.5 gigabytes. A fresh machine takes a quarter of an hour.
memories: .venv/installed-dev
	$(BIN)/python -m benchmarks memories

# The real Inspect and Scout, in an environment of their own: half a gigabyte.
inspect:
	$(PYTHON) -m venv .venv-inspect
	.venv-inspect/bin/python -m pip install --quiet --disable-pip-version-check -e '.[inspect]' inspect_scout pytest pytest-asyncio hypothesis
	.venv-inspect/bin/python -m pytest -W default -p no:cacheprovider tests/flows/test_inspect.py

clean:
	rm -rf .venv .venv-servers .venv-inspect runs build dist

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv-servers/installed: benchmarks/servers/requirements.txt
	$(PYTHON) -m venv .venv-servers
	CMAKE_ARGS='-DLLAVA_BUILD=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_CURL=OFF -DGGML_OPENMP=OFF' \
	  .venv-servers/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

.venv/installed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

.venv/installed-dev: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ .venv/installed
