# `make` alone lists the targets. Everything here is safe to repeat and quick the second time.
.DEFAULT_GOAL := help
.PHONY: help bootstrap run test check build format lint bench docs clean
ARGS ?=
SHELL := /bin/bash
SWIFT := swift
PYTEST := .deps/venv/bin/python -m pytest -q
# Warnings are errors in Package.swift; an import of a room that the package does not allow is one here.
STRICT := --explicit-target-dependency-import-check error
ROOMS := Sources Tests Package.swift

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

bootstrap: ## install and build what is missing
	@Scripts/bootstrap run

run: bootstrap ## start Alcove and print its address (ARGS="--port 8000" passes flags)
	@test -x .build/release/alcove || echo 'building Alcove (4 to 10 minutes on 2 cores, once) ...' >&2
	@set -o pipefail; for product in alcove alcove-runtime; do \
		$(SWIFT) build -c release --product $$product --quiet 2>&1 \
			| { grep -v 'argument unused during compilation' >&2 || true; } || exit 1; done
	@exec .build/release/alcove serve $(ARGS)

build: bootstrap ## build everything, for development
	@$(SWIFT) build --build-tests $(STRICT)

test: ## install what is missing and run every test
	@Scripts/bootstrap test
	@Scripts/test

check: lint test ## what must pass before a commit: lint, build, tests

format: ## lay out the Swift sources
	@$(SWIFT) format format --in-place --recursive --parallel $(ROOMS)

lint: ## say what is not laid out as it should be
	@$(SWIFT) format lint --strict --recursive --parallel $(ROOMS)

bench: bootstrap ## measure speed on this machine
	@Scripts/bench

docs: bootstrap ## build the reference of the public API into docs/api
	@Scripts/docs

clean: ## remove what was built (not what was fetched)
	@rm -rf .build docs/api
