# `make demo` and `make test` install everything that they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PACKAGES := adql clickhouse_schema loaders tap_service workers
CHECKS := check-ruff check-format check-types check-imports check-portal test-portal docs
PYTEST := $(BIN)/python -m pytest --dist loadfile --no-loadscope-reorder
NPM := cd web && PATH="$(CURDIR)/$(BIN):$$PATH" npm --loglevel=error

# Tests start hundreds of processes, which use the compiled sources. An empty value has the effect of no value.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test durations quick check $(CHECKS) portal bench bench-seeds equality fuzz nightly chaos soak cluster-test lock release clean

demo: $(VENV)/demo
	$(BIN)/skyhouse demo

# The tests, side by side with the checks.
test: $(VENV)/test
	@mkdir -p build; \
	$(MAKE) check >build/check.log 2>&1 & check=$$!; \
	$(PYTEST) --numprocesses 3 --durations 20 $(OPTIONS); tests=$$?; \
	wait $$check || { cat build/check.log; echo "make check has failed: see above"; exit 1; }; \
	exit $$tests

# make test, and store the duration of each test file, by which later runs start with the slowest file.
durations:
	$(MAKE) test OPTIONS=--keep-durations

# In less than 90 s: checks of the changed files, and the tests nearest to them; for all commits of a branch: make quick SINCE=main
SINCE ?=
quick: $(VENV)/test
	$(BIN)/python -m tools.quick_round $(SINCE)

check: $(VENV)/test
	@$(MAKE) --no-print-directory --keep-going --jobs 2 --output-sync $(CHECKS)

check-ruff: $(VENV)/test
	$(BIN)/ruff check .

check-format: $(VENV)/test
	$(BIN)/ruff format --check .

check-types: $(VENV)/test
	$(BIN)/mypy

check-imports: $(VENV)/test
	$(BIN)/lint-imports

check-portal: $(VENV)/test
	$(NPM) run check

test-portal: $(VENV)/test
	$(NPM) test

# The documentation as a site, in build/site. A broken link or anchor is an error.
docs: $(VENV)/test
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

# web/dist, which is committed, so that the service needs no Node. A test compares it with the sources.
portal: $(VENV)/test
	$(BIN)/python -m tools.portal_lists
	$(NPM) run build

# The figures of the README, each a ratio of two measurements of the same run. A single benchmark:
# make bench BENCH=match OPTIONS="--rows 50000000 --rounds 3"
BENCH ?= *
bench: $(VENV)/test
	@for benchmark in $(basename $(notdir $(wildcard tests/benchmarks/bench_$(BENCH).py))); do \
	    $(BIN)/python -m tests.benchmarks.$$benchmark $(OPTIONS) || exit 1; done

# The workloads of the systems that Skyhouse succeeds. Run it again to continue a killed run: make bench-seeds SIZE=F SEED=003
SIZE ?= M
bench-seeds: $(VENV)/test
	$(BIN)/python -m tests.benchmarks.seeds --size $(SIZE) $(if $(SEED),--seed $(SEED))

# All queries of the ADQL tests, on one server and on clusters; the answers must equal the answers of the embedded engine.
equality: $(VENV)/test
	$(BIN)/python -m pytest tests/adql --remote --timeout 600 --ignore tests/adql/test_planning.py --ignore tests/adql/test_obscore.py
	@for shards in 1 3 7; do \
	    $(BIN)/python -m pytest tests/adql tests/cluster/test_equality.py tests/cluster/test_random_queries.py --shards $$shards --timeout 600 \
	        --ignore tests/adql/test_planning.py --ignore tests/adql/test_obscore.py || exit 1; done

# Random texts, queries, conditions and requests, different each time. EXAMPLES is the number for tests that set none:
# make fuzz EXAMPLES=50000
EXAMPLES ?= 5000
fuzz: $(VENV)/test
	FUZZ_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest tests/adql/test_fuzz.py tests/tap_service/handlers/test_fuzzed_requests.py --timeout 0
	FUZZ_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest tests -m hypothesis --timeout 0

# Longer versions of tests that take seconds in make test: some errors occur only after hours.
nightly: $(VENV)/test
	$(MAKE) fuzz
	$(MAKE) chaos MINUTES=30
	$(MAKE) soak MINUTES=30
	$(MAKE) soak MINUTES=30 SHARDS=2
	$(MAKE) bench-seeds SIZE=S
	$(MAKE) equality

# Kills components while clients run jobs and tables are loaded: make chaos MINUTES=60; SEED=7 repeats an order of kills.
chaos: $(VENV)/test
	$(BIN)/python -W ignore -m tests.chaos.run $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

# Hours of mixed load on the embedded engine, or on SHARDS servers: make soak MINUTES=60 SHARDS=2
soak: $(VENV)/test
	$(BIN)/python -W ignore -m tests.soak.run_soak $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SHARDS),--shards $(SHARDS))

# Tests on your own cluster: make cluster-test URL=http://ch1:8123,http://ch2:8123. CLUSTER_STOP and CLUSTER_START are the
# commands that stop and start the server at {host} and {port}; tests/cluster/real.py describes the other variables.
cluster-test: $(VENV)/test
	CLUSTER_URL=$(URL) $(BIN)/python -m pytest tests/cluster/acceptance.py tests/cluster/test_equality.py

# New versions of the dependencies. Run the tests before you commit the lock files.
lock: $(VENV)/test
	echo uv | $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	    --no-header --quiet --upgrade - -o requirements-install.lock
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	    --no-header --quiet --upgrade pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	    --no-header --quiet --upgrade pyproject.toml --extra test -o requirements-test.lock
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	    --no-header --quiet --upgrade --group pyproject.toml:old-astropy -o requirements-old-astropy.lock

# Writes the wheel and the sources to dist, and builds the image if docker is running. Runs the demo from the wheel in an empty environment.
release:
	PYTHON=$(PYTHON) .ci/release

$(VENV)/demo: requirements.lock requirements-install.lock pyproject.toml .ci/install
	PYTHON=$(PYTHON) .ci/install demo $(VENV)

$(VENV)/test: requirements-test.lock requirements-install.lock requirements-old-astropy.lock pyproject.toml web/package-lock.json .ci/install
	PYTHON=$(PYTHON) .ci/install test $(VENV)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache *.egg-info build dist web/node_modules
