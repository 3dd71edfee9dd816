# Short names for what the README and the documents say at length.
PYTHON ?= python

.PHONY: check bench bench-quick docs notebook

check:
	scripts/check

bench:
	$(PYTHON) -m benchmarks

bench-quick:
	$(PYTHON) -m benchmarks --quick

docs:
	$(PYTHON) -m mkdocs build --strict --site-dir out/site

notebook:
	$(PYTHON) -c "from nbclient.cli import main; main()" --inplace notebooks/whole-study.ipynb
