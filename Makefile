# Everything the book can do. `make` alone lists it.
# A Python that is new enough is found by itself; PYTHON=… names another.

# It is looked for when it is first needed, and once; what a pyenv shim has to say about a
# version that is not installed is not our reader's concern.
PYTHON ?= $(eval PYTHON := $(shell for p in python3.14 python3.13 python3.12 python3.11 \
	python3; do $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$p && break; done || echo python3))$(PYTHON)
RUN := .venv/bin/python -m

# Packages are installed without compiled modules, so what is imported has to be kept: a
# machine that is told to keep nothing compiles each module anew in every process.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help book watch serve lab check format test test-all kernels gpu model faults mutants \
	fuzz budgets bench browsers lighthouse lock translations clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*##/  make \1	/p' Makefile

# What is installed, part by part: each stamp holds the lock that was installed last.
BOOK := .venv/ready-book
TESTS := .venv/ready-test

$(BOOK): requirements.txt lib/*/pyproject.toml book/pyproject.toml
	@$(PYTHON) tools/environment.py

.venv/ready-%: requirements-%.txt $(BOOK)
	@$(PYTHON) tools/environment.py $*

book: $(BOOK)  ## build the book, and say where it is
	@$(RUN) tools.build --open

watch: $(BOOK)  ## build what changes, and reload the open page
	@$(RUN) tools.watch

serve: book  ## the book on a local address
	@$(RUN) tools.serve

lab: book .venv/ready-lab  ## the chapters as notebooks, in JupyterLab
	@$(RUN) tools.lab

check: $(TESTS)  ## format, lint, types and the tests of the ideas: the quick ones
	@$(RUN) tools.check

format: $(TESTS)  ## lay the code out as `make check` wants it
	@$(RUN) tools.check --format

test: $(TESTS)  ## build the book and run the tests, but for most of the slow ones
	@$(RUN) tools.test

test-all: $(TESTS)  ## build the book, compile the kernels and run every test
	@$(RUN) tools.test --all

translations: $(TESTS)  ## bring book/locale up to date, and say what is translated
	@$(RUN) tools.build
	@$(RUN) tools.translations

kernels: $(TESTS)  ## compile the GPU kernels, and store what the compiler says
	@$(RUN) tools.kernels
	@$(RUN) tools.kernels.excerpts
	@$(RUN) tools.kernels.laboratory
	@$(RUN) tools.kernels.tensor
	@$(RUN) tools.faults.barriers

gpu: $(BOOK)  ## on a GPU: check the kernels, time them, store the times
	@$(RUN) tools.kernels.gpu

model: $(BOOK)  ## train the model of the last chapter again, and store it (some twenty minutes)
	@$(RUN) tools.model

faults: $(TESTS)  ## plant faults one by one; each has to turn the tests red
	@$(RUN) tools.faults

mutants: $(TESTS)  ## a mutation run over the ideas floor (minutes)
	@.venv/bin/python tests/onlinesoftmax/mutation/run.py

fuzz: $(TESTS)  ## random kernels against an oracle: 20,000 from a new seed (minutes)
	@$(RUN) tools.simulator.fuzz 20000 $$(date +%s)

budgets: book $(TESTS)  ## what the book weighs and how fast it is, against its budgets
	@$(RUN) tools.site.budgets

bench: $(TESTS)  ## measure on this machine what the book reports, and store it
	@$(RUN) tools.bench

browsers: book $(TESTS)  ## the main paths in Chromium, Firefox and WebKit
	@$(RUN) tools.site.browsers

lighthouse: book $(TESTS)  ## Lighthouse on the content pages (needs Node.js)
	@$(RUN) tools.site.lighthouse

lock: $(BOOK)  ## compile requirements*.in into requirements*.txt
	@$(RUN) tools.lock

clean:  ## remove what was built; the environment stays
	rm -rf _build
