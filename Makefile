# Two commands are enough on a fresh machine: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LAB ?= lab
# Only the tests that failed, and not all of them if none is known to have failed.
AGAIN := --last-failed --last-failed-no-failures none
# Only their files are read: to collect all others would take longer than some of these tests.
EMBEDDED = $(shell grep -rl --include='test_*.py' mark.embedded tests)
# Pages that people write. The reference is written from the code, and tests read its sentences.
PROSE = docs/index.md docs/gallery.md $(addprefix docs/,decisions explanation how-to project tutorials)
# Tests start many processes: compiled modules are kept, whatever the environment says.
export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help run test check study bench docs lock clean

help: ## list these targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

run: $(VENV)/.run ## install, evaluate the embedded model, write the report; CONVERSATIONS=2 adds conversations
	@$(BIN)/empathylab models install smollm2
	@$(BIN)/empathylab evaluate --lab $(LAB)
ifdef CONVERSATIONS
	@$(BIN)/empathylab converse local/smollm2 --simulator local/smollm2 --count $(CONVERSATIONS) --exchanges 2 --report --lab $(LAB)
endif

test: $(VENV)/.dev ## install what tests need and run all of them
	@sh scripts/install-debian.sh browser "command -v chromium" chromium fonts-dejavu-core fonts-noto-color-emoji
	@sh scripts/install-debian.sh r "Rscript -e 'library(ordinal); library(lme4)'" r-base-core r-cran-ordinal r-cran-lme4
	@$(BIN)/empathylab models install smollm2
ifdef TESTS
	$(BIN)/python -m pytest $(TESTS)
else
	@# More processes than cores: many tests wait for a browser, a server or the disk. So each has
	@# one thread for linear algebra; more would only wait for each other.
	@# What fails there gets one attempt alone: a test that starts servers or browsers can run out
	@# of time beside three others. Both attempts are printed.
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder -m "not embedded" \
	  || { [ $$? = 1 ] && $(BIN)/python -m pytest -m "not embedded" $(AGAIN); }
	@# The embedded model wants all cores; beside other tests it crawls.
	$(BIN)/python -m pytest -m embedded $(EMBEDDED) \
	  || { [ $$? = 1 ] && $(BIN)/python -m pytest -m embedded $(EMBEDDED) $(AGAIN); }
endif

check: $(VENV)/.dev ## lint, spelling, style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md docs src scripts examples
	$(BIN)/proselint check README.md CHANGELOG.md CONTRIBUTING.md $(PROSE)
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_import_direction.py tests/test_public_names.py tests/test_plain_words.py

study: $(VENV)/.run ## open the demo study
	@$(BIN)/empathylab study demo --lab demo-lab --open

bench: $(VENV)/.dev ## print the measured ratios
	@for script in bench/*.py; do echo "# $$script"; $(BIN)/python $$script || exit 1; done

docs: $(VENV)/.dev ## build the documentation site into site/
	@$(BIN)/python scripts/write_reference.py
	@$(BIN)/python scripts/write_export_columns.py
	@$(BIN)/python scripts/build_docs.py

lock: ## update requirements/*.lock from pyproject.toml (needs uv)
	uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header \
	  --extra local --extra style --extra study --group build -o requirements/run.lock pyproject.toml
	uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header \
	  --all-extras --group build --group docs --group dev -o requirements/dev.lock pyproject.toml

clean: ## remove the environment and caches; labs stay
	rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache .hypothesis dist

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The locks are complete, so nothing is resolved again. The package itself comes last and alone.
$(VENV)/.run: requirements/run.lock pyproject.toml | $(BIN)/python
	@echo "Installing EmpathyLab into $(VENV) …"
	@$(INSTALL) --no-deps -r requirements/run.lock
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements/dev.lock $(VENV)/.run
	@echo "Installing what tests need …"
	@$(INSTALL) --no-deps -r requirements/dev.lock
	@touch $@
