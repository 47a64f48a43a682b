# Included by each project's Makefile: the repository's verbs, for that project alone.
SLUICE_ROOT := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))..)
SLUICE_PROJECT := $(patsubst $(SLUICE_ROOT)/%,%,$(CURDIR))
SLUICE_VERBS := build typecheck lint test bench up down seed status demo chaos verify verify-deep logs ci

.DEFAULT_GOAL := help
.PHONY: help $(SLUICE_VERBS)

help: ## list this project's verbs
	@echo "$(SLUICE_PROJECT): make build | typecheck | lint | test | bench"
	@echo "A verb that it does not have says so. 'make help' at the top lists the verbs of the whole."

$(SLUICE_VERBS):
	@"$(SLUICE_ROOT)/tools/bootstrap.sh" project "$(SLUICE_PROJECT)" $@
