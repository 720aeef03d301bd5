# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
#
# Every target brings what it needs: a virtual environment in the checkout, the package in it,
# and for the tests Debian's Prometheus where that can be had. `make help` lists them.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.NOTPARALLEL:
.SUFFIXES:

VENV := .venv
PY := $(VENV)/bin/python
LOWEST := .venv-lowest

# The stamp names the checkout, so that a copied or moved tree is installed anew and never tests
# the code of the tree it came from.
CHECKOUT := $(shell printf '%s' '$(CURDIR)' | cksum | cut -d ' ' -f 1)
DEMO_STAMP := $(VENV)/.installed-demo-$(CHECKOUT)
DEV_STAMP := $(VENV)/.installed-dev-$(CHECKOUT)
LOWEST_STAMP := $(LOWEST)/.installed-$(CHECKOUT)

# Tests talk to 127.0.0.1 only, with a Ray of their own: neither a proxy nor another cluster of the
# calling shell may change what they see. CI and everything else pass through.
TEST_ENV := env -u http_proxy -u HTTP_PROXY -u https_proxy -u HTTPS_PROXY -u all_proxy \
	-u ALL_PROXY -u grpc_proxy -u RAY_ADDRESS -u RAY_API_SERVER_ADDRESS \
	RAY_AUTH_MODE=disabled RAY_USAGE_STATS_ENABLED=0

FAST_SUITES := tests/unit tests/property tests/repo
SLOW_SUITES := tests/integration tests/e2e

.PHONY: help
help: ## List the targets
	@echo "usage: make TARGET [PYTHON=python3.12]"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | while IFS='|' read -r name does; do \
		printf '%-14s %s\n' "$$name" "$$does"; done

.PHONY: demo
demo: $(DEMO_STAMP) ## Train a small policy on a local Ray and watch its metrics arrive (DEMO_ARGS=…)
	@RAY_USAGE_STATS_ENABLED=0 $(VENV)/bin/nemo-telemetry demo $(DEMO_ARGS)

.PHONY: test
test: $(DEV_STAMP) ## Run every suite: the fast ones, then integration, then end to end
	@sh scripts/install_tools.sh
	@failed=; \
	printf '\n=== %s\n\n' "$(FAST_SUITES)"; \
	$(TEST_ENV) $(PY) -m pytest $(FAST_SUITES) --cov $(PYTEST_ARGS) || failed="$(FAST_SUITES)"; \
	for suites in $(SLOW_SUITES); do \
		printf '\n=== %s\n\n' "$$suites"; \
		$(TEST_ENV) $(PY) -m pytest $$suites $(PYTEST_ARGS) || failed="$$failed $$suites"; \
	done; \
	if [ -n "$$failed" ]; then echo "failed:$$failed" >&2; exit 1; fi

.PHONY: test-fast
test-fast: $(DEV_STAMP) ## Run the unit, property and repo suites, which need no Ray
	@$(TEST_ENV) $(PY) -m pytest $(FAST_SUITES) $(PYTEST_ARGS)

.PHONY: test-lowest
test-lowest: $(LOWEST_STAMP) ## Run the fast suites with the lowest versions that pyproject.toml names
	@$(TEST_ENV) $(LOWEST)/bin/python -m pytest $(FAST_SUITES) $(PYTEST_ARGS)

.PHONY: check
check: $(DEV_STAMP) ## Lint, formatting, types, import contracts, spelling, whitespace
	@failed=; \
	run() { printf '\n=== %s\n' "$$*"; "$$@" || failed="$$failed [$$*]"; }; \
	run $(PY) -m ruff check; \
	run $(PY) -m ruff format --check; \
	run $(PY) -m mypy; \
	run $(VENV)/bin/lint-imports; \
	run $(PY) -m codespell_lib; \
	run $(PY) scripts/whitespace.py; \
	if [ -n "$$failed" ]; then echo "failed:$$failed" >&2; exit 1; fi

.PHONY: format
format: $(DEV_STAMP) ## Fix what can be fixed without thought
	$(PY) -m ruff check --fix
	$(PY) -m ruff format
	$(PY) scripts/whitespace.py --fix

.PHONY: chaos
chaos: $(DEV_STAMP) ## Kill everything for a quarter of an hour and compare the books (CHAOS_ARGS=…)
	@$(TEST_ENV) $(PY) -m tests.e2e.chaos.run $(CHAOS_ARGS)

.PHONY: bench
bench: $(DEV_STAMP) ## Run the benchmarks (micro with pytest-benchmark, then each macro script)
	$(TEST_ENV) $(PY) -m pytest benchmarks/micro -o python_files='bench_*.py' -p no:randomly
	set -e; for script in benchmarks/macro/*.py; do [ -e "$$script" ] || continue; $(TEST_ENV) $(PY) "$$script"; done

.PHONY: install
install: $(DEV_STAMP) ## Only make the virtual environment, with everything for development

.PHONY: clean
clean: ## Remove caches and build products
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks \
		.import_linter_cache .coverage
	find . \( -path './$(VENV)' -o -path './$(LOWEST)' -o -path ./.git \) -prune -o \
		-type d -name __pycache__ -exec rm -rf {} +

.PHONY: distclean
distclean: clean ## Remove the virtual environments too
	rm -rf $(VENV) $(LOWEST)

$(DEMO_STAMP): pyproject.toml scripts/venv.sh
	@sh scripts/venv.sh $(VENV) '.[demo]'
	@touch $@

$(DEV_STAMP): pyproject.toml scripts/venv.sh
	@sh scripts/venv.sh $(VENV) '.[dev]'
	@touch $@ $(DEMO_STAMP)

# Only on 3.11: the oldest releases have no wheels for later Pythons.
$(LOWEST_STAMP): pyproject.toml scripts/venv.sh scripts/lowest_versions.py
	@PYTHON="$${PYTHON:-python3.11}" sh scripts/venv.sh $(LOWEST)
	@$(LOWEST)/bin/python scripts/lowest_versions.py > $(LOWEST)/constraints.txt
	@sh scripts/venv.sh $(LOWEST) '.[dev]' --constraint $(LOWEST)/constraints.txt
	@touch $@
