# Every target stops at the first failure. `make` alone lists the targets.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

PYTHON ?= python3
PIP := -m pip --disable-pip-version-check --quiet
KAFKA_JAR := .cache/kafka/libs/kafka_2.13-4.1.0.jar
APT_INSTALL := DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
	default-jre-headless maven gcc libc6-dev python3-dev chromium fonts-noto-cjk postgresql \
	prometheus prometheus-alertmanager
# Two processes, a module of tests in one of them, in the order of their names: those that take longest are no last ones.
TOGETHER := -n 2 --dist loadfile --no-loadscope-reorder
COMPILED_TESTS := tests/rules tests/extended tests/files \
	tests/stream/test_batch.py tests/stream/test_entities.py tests/stream/test_worker.py
HAS_HEADERS := $(PYTHON) -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")'
# The bench and the ledger run the compiled build where there is a compiler; COMPILED= runs them from source.
COMPILED ?= $(shell command -v cc >/dev/null && $(HAS_HEADERS) 2>/dev/null && echo 1)
BUILD := $(CURDIR)$(if $(COMPILED),/build/compiled):$(CURDIR)/tests
UV_LOCK := .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-header --no-emit-index-url --no-annotate $(LOCK)
DEPLOY := .venv-deploy/bin

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: .venv/.complete ## the virtual environment, with turnjudge at .venv/bin/turnjudge
	@:

.venv/.complete: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "turnjudge needs Python 3.11 or newer; name one with: make setup PYTHON=/path/to/python3.11" >&2; exit 1; }
	@test -x .venv/bin/pip || $(PYTHON) -m venv .venv || \
		{ echo "no virtual environment could be made; on Debian: apt-get install python3-venv" >&2; exit 1; }
	@echo "installing turnjudge and its tools into .venv"
	@.venv/bin/python $(PIP) install --require-hashes -r requirements.lock
	@.venv/bin/python $(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

.PHONY: kafka
kafka: $(KAFKA_JAR) ## a real Apache Kafka for the tests, into .cache/kafka (needs java and mvn)
	@:

$(KAFKA_JAR): tests/jars/pom.xml
	@for tool in java mvn; do command -v $$tool >/dev/null || \
		{ echo "$$tool is missing; on Debian: make services, or apt-get install default-jre-headless maven" >&2; exit 1; }; done
	@echo "downloading Apache Kafka into .cache/kafka"
	@rm -rf .cache/kafka/part && mkdir -p .cache/kafka
	@mvn -q -B --strict-checksums -f tests/jars/pom.xml dependency:copy-dependencies \
		-DincludeScope=runtime -DoutputDirectory="$(CURDIR)/.cache/kafka/part"
	@rm -rf .cache/kafka/libs && mv .cache/kafka/part .cache/kafka/libs
	@touch $@

.PHONY: services
services: ## Java, Maven, a C compiler, Chromium, PostgreSQL, Prometheus by apt-get where one is missing (as root), then kafka
	@if ! { command -v java && command -v mvn && command -v cc && $(HAS_HEADERS) && command -v chromium \
			&& ls /usr/lib/postgresql/*/bin/initdb && command -v promtool && command -v amtool; } >/dev/null 2>&1; then \
		test "$$(id -u)" = 0 && command -v apt-get >/dev/null || \
			{ echo "java, mvn, cc, the headers of Python, chromium, PostgreSQL or Prometheus is missing: install them, or run this as root on Debian" >&2; exit 1; }; \
		echo "installing Java, Maven, a C compiler, Chromium, PostgreSQL and Prometheus"; \
		$(APT_INSTALL) >/dev/null 2>&1 || { apt-get update -qq && $(APT_INSTALL) >/dev/null; }; \
	fi
	@$(MAKE) --no-print-directory kafka

.PHONY: demo
demo: setup ## chat turns judged live, on an embedded broker, with the page beside it
	@exec .venv/bin/turnjudge demo

.PHONY: test
test: setup ## every test whose service this machine has
	@if command -v java >/dev/null && command -v mvn >/dev/null; then \
		$(MAKE) --no-print-directory kafka || echo "Apache Kafka could not be downloaded: its tests are left out" >&2; \
	fi
	@.venv/bin/python -m pytest $(TOGETHER)

.PHONY: test-compiled
test-compiled: kafka compiled ## the tests of what is compiled, on the compiled build
	@TURNJUDGE_TEST_COMPILED=1 PYTHONPATH=$(CURDIR)/build/compiled .venv/bin/python -P -m pytest $(TOGETHER) $(COMPILED_TESTS)

.PHONY: lint
lint: setup ## format, style, types and who imports whom
	@.venv/bin/ruff format --check .
	@.venv/bin/ruff check .
	@.venv/bin/mypy
	@.venv/bin/lint-imports

SOURCES := $(shell find schemas rules service -type f -not -name '*.pyc')

.PHONY: compiled
compiled: build/compiled/.complete ## a wheel with the judging compiled, into dist/ and unpacked in build/compiled (needs a C compiler)
	@:

build/compiled/.complete: $(SOURCES) pyproject.toml | .venv/.complete
	@{ command -v cc && $(HAS_HEADERS); } >/dev/null 2>&1 || \
		{ echo "a C compiler or the headers of Python are missing; on Debian: apt-get install gcc libc6-dev python3-dev" >&2; exit 1; }
	@echo "compiling what every turn runs through"
	@rm -rf build/compiled dist/compiled && mkdir -p build
	@HATCH_BUILD_HOOK_ENABLE_MYPYC=true .venv/bin/python -m build --no-isolation --outdir dist/compiled . >build/compiled.log 2>&1 || \
		{ tail -20 build/compiled.log >&2; exit 1; }
	@.venv/bin/python $(PIP) install --no-deps --no-index --target build/compiled dist/compiled/turnjudge-*.whl
	@touch $@

.PHONY: setup-bench
setup-bench: .venv-bench/.complete

.venv-bench/.complete: requirements-bench.lock pyproject.toml
	@test -x .venv-bench/bin/pip || $(PYTHON) -m venv .venv-bench
	@echo "installing turnjudge and what it is compared with into .venv-bench"
	@.venv-bench/bin/python $(PIP) install --require-hashes -r requirements-bench.lock
	@.venv-bench/bin/python $(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

.PHONY: bench
bench: setup-bench kafka $(if $(COMPILED),compiled) ## what judging costs; parts by BENCH="--only core --plot", see --help
	@PYTHONPATH=$(BUILD) .venv-bench/bin/python -P -m bench $(BENCH)

.PHONY: ledger
ledger: setup kafka $(if $(COMPILED),compiled) ## the worker through real faults, every topic held to the plan; some minutes, SEED=N repeats one
	@PYTHONPATH=$(BUILD) .venv/bin/python -P -m ledger $(if $(SEED),--seed $(SEED))

.PHONY: ledger-long
ledger-long: setup kafka $(if $(COMPILED),compiled) ## the same with more turns and kills, some 40 minutes
	@PYTHONPATH=$(BUILD) .venv/bin/python -P -m ledger --long $(if $(SEED),--seed $(SEED))

.PHONY: setup-deploy
setup-deploy: .venv-deploy/.complete

.venv-deploy/.complete: requirements-deploy.lock
	@test -x .venv-deploy/bin/pip || $(PYTHON) -m venv .venv-deploy
	@echo "installing what deploy/ is built and checked with into .venv-deploy"
	@.venv-deploy/bin/python $(PIP) install --require-hashes -r requirements-deploy.lock
	@touch $@

.PHONY: deploy-build
deploy-build: setup-deploy ## the dashboards and the PrometheusRule, written anew from their code
	@$(DEPLOY)/python -m deploy.build

.PHONY: deploy-check
deploy-check: setup-deploy ## compose, Dockerfile, Kubernetes, Prometheus, Alertmanager, Grafana: held to what reads them
	@$(DEPLOY)/python -m deploy.check

.PHONY: compose-secrets
compose-secrets: ## random passwords and tokens for docker-compose.yml, where there are none
	@deploy/compose/secrets.sh

.PHONY: plots
plots: setup-bench kafka ## the overview's queries on a real Prometheus for some minutes, drawn into build/plots
	@PYTHONPATH=$(CURDIR):$(CURDIR)/tests .venv-bench/bin/python -P -m deploy.plots build/plots

.PHONY: spikes
spikes: setup ## false alarms and time to catch of the two rules for spikes; some minutes, SPIKES=--help lists its options
	@PYTHONPATH=$(CURDIR)/tests .venv/bin/python -P -m spikes $(SPIKES)

.PHONY: schemas
schemas: setup ## the JSON Schemas, written anew from the models
	@.venv/bin/python -m schemas.export

.PHONY: metrics
metrics: setup ## the table of all metrics in deploy/, written anew from the code
	@.venv/bin/turnjudge metrics >deploy/metrics.md

.PHONY: lock
lock: ## all lock files after a change of pyproject.toml (LOCK=--upgrade for newer versions)
	@$(UV_LOCK) --extra page --group bench -o requirements-bench.lock pyproject.toml
	@$(UV_LOCK) --extra embedded --extra evaluate --extra page --group dev -c requirements-bench.lock -o requirements.lock pyproject.toml
	@$(UV_LOCK) --extra evaluate --extra page --group install -c requirements.lock -o requirements-image.lock pyproject.toml
	@$(UV_LOCK) --group deploy -o requirements-deploy.lock

.PHONY: clean
clean: ## build output and caches away; .venv, .venv-bench and .cache stay
	@rm -rf dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .benchmarks
	@find schemas rules service tests -name __pycache__ -type d -prune -exec rm -rf {} +
