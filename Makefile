PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: setup demo test lint check-browser check-js check-pgbouncer check-wheel clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(STAMP)

demo: setup
	$(BIN)/python -m graph.demo

test: setup
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check-browser: setup
	@command -v chromium >/dev/null || { \
		echo "Chromium is needed; on Debian: apt-get install chromium fonts-noto-cjk" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[browser]'
	$(BIN)/python -m pytest tests/on_demand/test_browser.py

check-js: setup
	@command -v npm >/dev/null || { \
		echo "Node.js 20 or later and npm are needed; on Debian: apt-get install nodejs npm" >&2; exit 1; }
	mkdir -p build/client
	cp tests/on_demand/client/package.json tests/on_demand/client/check.js build/client/
	npm install --prefix build/client --silent --no-audit --no-fund --no-package-lock
	$(BIN)/python -m pytest tests/on_demand/test_client.py

check-pgbouncer: setup
	@PATH="$$PATH:/usr/sbin" command -v pgbouncer >/dev/null || { \
		echo "PgBouncer is needed; on Debian: apt-get install pgbouncer" >&2; exit 1; }
	$(BIN)/python -m pytest tests/on_demand/test_pgbouncer.py

check-wheel: setup
	$(BIN)/python -m pytest tests/on_demand/test_wheel.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
