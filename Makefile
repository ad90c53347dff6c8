# The two commands of the README are `make demo` and `make check`.
# A machine with python3 (3.11 or newer), make and git is enough; the rest goes into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Two test processes by default: what every machine has.
WORKERS ?= 2
# How many inputs a search takes, and where its random numbers begin.
N ?= 10000
SEED ?= 0

.PHONY: help demo docs check-docs check format format-check lint types layers test pictures page-pictures peers check-real check-tools bench \
	bench-compiled storm page extension distributions wheel wheels check-wheel check-install single-file formula build-twice check-lowest \
	fuzz fuzz-files fuzz-expressions \
	differential coverage tampering equivalences plain mutants sampled-mutants outside clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "nigari needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# Who only wants to see the demo gets an environment without the tools of developers, below build.
DEMO := $(if $(wildcard $(READY)),$(VENV),build/demo)

build/demo/.ready: pyproject.toml
	@test -x build/demo/bin/python || $(PYTHON) -m venv build/demo
	build/demo/bin/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

demo: $(DEMO)/.ready ## two small configurations, from the first question to the last destroy, offline
	$(DEMO)/bin/python examples/demo.py

check: format-check lint types layers test ## everything that must hold before a commit

format: $(READY) ## rewrite the layout of the sources
	$(BIN)/ruff check --fix --exit-zero --quiet .
	$(BIN)/ruff format .

format-check: $(READY)
	$(BIN)/ruff format --check .

lint: $(READY)
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy src tests scripts benchmarks examples fuzz
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin src
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32 src
	$(BIN)/pyright
	@echo '$(BIN)/pyright --verifytypes nigari --ignoreexternal'
	@found="$$(PATH="$(abspath $(BIN)):$$PATH" pyright --verifytypes nigari --ignoreexternal)" \
		|| { echo "$$found" | grep -B 1 -A 3 ' - error: '; exit 1; }

layers: $(READY)
	$(BIN)/lint-imports

test: $(READY) ## the tests alone
	$(BIN)/pytest -q -n $(WORKERS)

pictures: $(READY) ## draw the pictures of the documents, and write the generated pages: API, commands, messages, tools
	$(BIN)/python -m scripts.pictures
	$(BIN)/python -m scripts.api_page
	$(BIN)/python -m scripts.cli_pages
	$(BIN)/python -m scripts.message_pages
	$(BIN)/python -m scripts.tools_page

page-pictures: $(READY) page ## take the pictures of the page of `nigari explore`; needs Chromium
	$(BIN)/python -m scripts.page_pictures

docs: $(READY) ## build the site of the documents in build/site
	@test -x $(BIN)/zensical || $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[site]'
	$(BIN)/python -m scripts.site

check-docs: docs ## open the site in Chromium: accessible in both themes and two widths, searchable; needs Node.js 20 or newer
	npm --prefix page ci --silent
	node --test scripts/check_site.mjs

peers: ## build the real programs that check-real compares with
	$(PYTHON) -m scripts.peers

check-real: $(READY) peers $(if $(shell command -v npm),page) ## the tests that need the real programs, and a browser for the page
	$(BIN)/pytest -q -n $(WORKERS) -m real

check-tools: $(READY) peers ## programs and libraries that run tofu, over OpenTofu and over our launcher
	$(BIN)/pytest -q -n $(WORKERS) -m tools

bench: $(READY) ## speed against peers, as a table, as build/bench.json and as docs/performance.md
	$(PYTHON) -m scripts.bench --page docs/performance.md

bench-compiled: wheel ## the same for the compiled wheel, as build/bench-compiled.json
	$(PYTHON) -m scripts.bench --compiled

fuzz: $(READY) ## search for inputs that break the reader of HCL: make fuzz N=1000000 SEED=1
	$(BIN)/python -m fuzz.hcl_files -n $(N) -s $(SEED)

fuzz-files: $(READY) ## damage plans, states, files of fleets and what is below .terraform: make fuzz-files N=10000 SEED=1
	$(BIN)/python -m fuzz.damaged_files -n $(N) -s $(SEED)
	$(BIN)/python -m fuzz.fleet_files -n $(N) -s $(SEED)

storm: $(READY) ## random edits in the language server, and what a fresh one says of the same texts: make storm N=100000 SEED=1
	$(BIN)/python -m fuzz.edit_storm -n $(N) -s $(SEED)

page: ## build the page of `nigari explore`; needs Node.js 20 or newer
	npm --prefix page ci --silent
	npm --prefix page run --silent types
	npm --prefix page run --silent build

extension: ## check and package the extension for VS Code, as editors/vscode/nigari.vsix; needs Node.js 20 or newer
	npm --prefix editors/vscode ci --silent
	npm --prefix editors/vscode run --silent types
	npm --prefix editors/vscode run --silent package

wheel: $(READY) page ## a wheel with the page, and with cty, hcl and regexp compiled by mypyc, in dist/
	NIGARI_COMPILE=1 $(BIN)/python -m hatchling build -t wheel -d dist

distributions: $(READY) ## the pure wheels of nigari and nigari-core, and the source archive, in dist/
	$(BIN)/python -m hatchling build -t sdist -t wheel -d dist
	cd packaging/nigari-core && $(abspath $(BIN))/python -m hatchling build -t wheel -d $(abspath dist)

wheels: distributions check-install check-wheel ## all wheels of this machine, with tests on each

check-install: distributions ## install in each way that users do, without a compiler, and follow the quick start and the demo
	$(BIN)/python -m scripts.check_install

single-file: distributions ## one file with all dependencies, for CI images that have Python; SCIE='--scie eager' adds Python
	@test -x $(BIN)/pex || $(BIN)/python -m pip install --quiet --disable-pip-version-check pex
	$(BIN)/pex dist/nigari-*-py3-none-any.whl --no-build --script nigari --output-file dist/nigari-cli.pex $(SCIE)

formula: distributions ## the Homebrew formula for the source archive in dist/
	$(BIN)/python -m scripts.homebrew_formula

build-twice: $(READY) ## show that two builds of the committed files have the same bytes
	$(BIN)/python -m scripts.build_twice

check-lowest: $(READY) ## tests with the lowest allowed versions of the dependencies; `make check` has the highest
	$(BIN)/python -m scripts.lowest_versions

check-wheel: wheel ## the tests of cty, hcl and regexp on the compiled wheel
	$(BIN)/python -m scripts.check_wheel

fuzz-expressions: $(READY) peers ## compare random expressions with the real console
	$(BIN)/python -m fuzz.expressions --count $(N) --seed $(SEED)

differential: $(READY) peers ## tell both programs random stories and compare: make differential N=1000 SEED=1
	$(BIN)/python -m fuzz.differential --count $(N) --seed $(SEED) --workers $(WORKERS)

coverage: $(READY) ## how many stories exercise each feature: make coverage N=1000 SEED=1
	$(BIN)/python -m fuzz.coverage --count $(N) --seed $(SEED) --workers $(WORKERS)

tampering: $(READY) peers ## tamper with results of stories and say which faults the judge does not report
	$(BIN)/python -m fuzz.tampering --count $(N) --seed $(SEED) --workers $(WORKERS)

equivalences: $(READY) ## compare what only nigari has with the same written out: make equivalences N=1000 SEED=1
	$(BIN)/python -m fuzz.equivalences --count $(N) --seed $(SEED) --workers $(WORKERS)

plain: $(READY) peers ## have OpenTofu plan random configurations that nigari wrote for it: make plain N=500 SEED=1
	$(BIN)/python -m fuzz.plain --count $(N) --seed $(SEED) --workers $(WORKERS)

mutants: $(READY) ## apply one-line faults, one at a time, and say which test finds each
	$(BIN)/python -m scripts.mutants --workers $(WORKERS) $(NAMES)

sampled-mutants: $(READY) ## faults drawn from plan, apply and eval, and those that the tests miss: make sampled-mutants N=100 SEED=1
	$(BIN)/python -m scripts.sampled_mutants --count $(N) --seed $(SEED)

outside: $(READY) peers ## compare with the real program in public repositories: docs/contributing/outside.md
	$(BIN)/python -m tests.outside $(OUTSIDE)

clean: ## forget everything that was made here
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache \
		page/node_modules src/nigari/explore/static editors/vscode/node_modules editors/vscode/dist
