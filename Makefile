# make reproduce-paperN and make test do everything from a fresh clone; make help lists the rest.

PROFILE ?= cpu
# What .venv was made with stays its Python, until another one is named.
PYTHON  ?= $(or $(wildcard .venv/bin/python),python3)
UV      ?= $(shell command -v uv)
PY      := .venv/bin/python
STAMP   := .venv/.installed
# The torch that .venv was made with stays its torch, until another one is named.
TORCH   ?= $(or $(shell sed -E 's/^[0-9]+-[0-9]+-//' $(STAMP) 2>/dev/null),cpu)
DOCS    := build/docs-venv
RUN     := $(PY) -m reproduce
PYTEST  ?= -n auto

.DEFAULT_GOAL := help
.PHONY: help setup reproduce night published matrix figures compare report bench docs site test soak lint

help:  ## this list
	@{ grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/'; \
	"$(PYTHON)" -m papers | awk -F '\t' '$$4 == "" { printf "reproduce-paper%s\t%s\n", $$1, $$3 }'; \
	printf 'night-paperN\tone of them with three seeds and more\n'; \
	printf 'published-paperN\tone of them at the published setting, on a GPU\n'; } | \
	awk -F '\t' '{ n = split($$2, words, " "); line = sprintf("%-19s", $$1); for (i = 1; i <= n; i++) { \
	if (length(line) + length(words[i]) > 79) { print line; line = sprintf("%19s", "") } line = line " " words[i] } print line }'
	@echo "PROFILE=smoke|cpu|night|paper (now $(PROFILE)), TORCH=cpu|cuda (now $(TORCH)),"
	@echo "PYTHON=$(PYTHON) (3.11 or newer)"

setup: $(STAMP)  ## create .venv with the locked versions and this project: 1.5 GB, 3 to 5 minutes with pip
	@test -z "$(filter setup,$(MAKECMDGOALS))" || echo "ready: now type .venv/bin/reproduce solve coupling/thm4.1/construction 57 48 96, or make reproduce-paper1; make help lists the rest"

# uv where it is found, else pip; both hold every package to its hash. TORCH: cpu and cuda have files of hashes, anything
# else is handed to the installer as it is. UV= (empty) keeps to pip.
VENV    := $(if $(UV),"$(UV)" venv --quiet --python "$(PYTHON)","$(PYTHON)" -m venv)
INSTALL  = $(if $(UV),"$(UV)" pip install --quiet --python $(1),$(1) -m pip install --quiet --no-compile --disable-pip-version-check)
LOCKED  := --no-deps --require-hashes -r
WITH_TORCH := $(if $(filter cpu cuda,$(TORCH)),$(LOCKED) requirements-torch-$(TORCH).txt,$(TORCH))

# The stamp holds a sum of what was installed and the torch that was chosen, first without the sum: .venv is built only
# when it is missing or a lock changed, so a .venv that is a link to another checkout's serves as well.
WANTED := $(shell cat requirements.lock requirements-torch-*.txt | cksum | tr ' ' '-')-$(TORCH)
ifneq ($(shell cat $(STAMP) 2>/dev/null),$(WANTED))
.PHONY: $(STAMP)
endif
$(STAMP):
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is $$("$(PYTHON)" -V 2>&1): Python 3.11 or newer is needed; name one with make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 2; }
	@echo "installing into .venv: 1.5 GB, half of it torch ($(TORCH)), 3 to 5 minutes with pip; pip install . into an environment of your own installs the library lengen alone"
	@test -x $(PY) || $(VENV) .venv || { echo ".venv could not be made: on Debian and Ubuntu apt-get install python3-venv; else name another Python with make PYTHON=/path/to/python3 $(MAKECMDGOALS)" >&2; exit 2; }
	@$(if $(UV),true,$(PY) -m pip --version >/dev/null 2>&1) || { echo ".venv has no pip, as one that uv made: put uv on PATH (or name it, make UV=/path/to/uv $(MAKECMDGOALS)), or rm -r .venv and make setup" >&2; exit 2; }
	@echo '0-0-$(TORCH)' > $(STAMP)
	@$(call INSTALL,$(PY)) $(WITH_TORCH) || { echo "torch could not be installed: make setup TORCH=cuda takes it from PyPI, TORCH='torch==2.13.0 --index-url URL' from an index that this machine reaches" >&2; exit 2; }
	@$(call INSTALL,$(PY)) $(LOCKED) requirements.lock
	@$(call INSTALL,$(PY)) --no-deps --no-index --no-build-isolation --editable .
	@printf '#!%s\nfrom reproduce.cli import entry\n\nentry()\n' '$(CURDIR)/$(PY)' > .venv/bin/reproduce && chmod +x .venv/bin/reproduce
	@$(PY) -m compileall -q -j 0 .venv/lib lengen papers reproduce >/dev/null 2>&1 || true
	@echo '$(WANTED)' > $(STAMP)

# The papers are the folders of papers/ that offer one: python -m papers prints number, name, title and why it stands apart.
reproduce: setup  ## papers 1 to 4: train, draw, compare
	@$(PY) -m papers | awk -F '\t' '$$4 != "" { print $$2 " is left out: " $$4 }'
	@for paper in $$($(PY) -m papers | awk -F '\t' '$$4 == "" { print $$2 }'); do \
	  echo "$(RUN) run $$paper --profile $(PROFILE)$(DRY_RUN)"; $(RUN) run $$paper --profile $(PROFILE)$(DRY_RUN) || exit; done

reproduce-paper%: setup
	@paper=$$($(PY) -m papers | awk -F '\t' '$$1 == "$*" && $$4 == "" { print $$2 }'); \
	test -n "$$paper" || { echo "there is no paper $*; make help lists them" >&2; exit 2; }; \
	echo "$(RUN) run $$paper --profile $(PROFILE)$(DRY_RUN)"; $(RUN) run $$paper --profile $(PROFILE)$(DRY_RUN)

# What is finished is not made again, so a night goes on where the last one ended. DRY=1 says what is left and how long.
DRY_RUN := $(if $(DRY), --dry-run)
night: PROFILE = night
night: reproduce  ## papers 1 to 4 with three seeds and more: hours, longest first, one run a core; DRY=1: what it costs

night-paper%:
	@$(MAKE) --no-print-directory reproduce-paper$* PROFILE=night

# On a GPU: what results/reference lacks at the published setting. Each command goes on where the last one ended.
published: setup  ## papers 1 to 4 at the published setting, most telling first: days of a GPU; DRY=1: what it costs
	@$(RUN) run $$($(PY) -m papers | awk -F '\t' '$$4 == "" { print $$2 }') --profile paper --missing --telling-first$(DRY_RUN)

published-paper%: setup
	@$(RUN) run paper$* --profile paper --missing --telling-first$(DRY_RUN)

matrix: PROFILE = night
matrix: setup  ## every trick on every task: a night and more, resumable; DRY=1: what it costs
	$(RUN) run matrix --profile $(PROFILE)$(DRY_RUN)

figures: setup  ## redraw every figure from the stored runs
	$(RUN) figures

compare: setup  ## published values and statements against the stored runs
	$(RUN) compare

report: setup  ## one site with everything: results/local/report/index.html
	$(RUN) report

bench: setup  ## measure speed, as ratios on this machine; OUT=results/bench/ ONLY=NAME
	$(PY) -m benchmarks $(if $(OUT),--out $(OUT)) $(if $(ONLY),--only $(ONLY))

docs: $(DOCS)/.installed  ## the documentation as a site: build/site/index.html
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/python -m mkdocs build

site: report docs  ## documentation and report as one site: build/site/index.html
	@echo "file://$(CURDIR)/build/site/index.html"

$(DOCS)/.installed: docs/requirements.txt
	@test -x $(DOCS)/bin/python || $(VENV) $(DOCS)
	$(call INSTALL,$(DOCS)/bin/python) --require-hashes -r docs/requirements.txt
	@touch $@

test: setup  ## all tests
	$(PY) -m pytest -q $(PYTEST)

soak: setup  ## stress tests (kills, foreign files, storage faults, races, folders and environments): KILLS=50 INPUTS=100000
	$(PY) -m stress.soak --kills $(or $(KILLS),50) --inputs $(or $(INPUTS),100000) --out results/soak
	$(PY) -m pytest -q stress

lint: setup  ## ruff and mypy
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy --strict lengen papers reproduce
