.DEFAULT_GOAL := help
.PHONY: help up down seed status demo test lint typecheck build bench chaos verify verify-deep logs ci

RUN := tools/bootstrap.sh

help: ## list these verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo "  Each works on one part too: make -C libs/limits test"

up: ## start the whole stack, seed it and print its URLs
	@$(RUN) up

down: ## stop everything that up started and remove its data; KEEP=1 keeps the data
	@$(RUN) down

seed: ## send a few seconds of each demo tenant's traffic
	@$(RUN) seed

status: ## show which parts run and whether they are healthy
	@$(RUN) status

demo: ## the story in six acts: a noisy neighbour, a dead provider, trouble upstream, the bill, a broken consumer, routing
	@$(RUN) demo

test: ## run all tests
	@$(RUN) test

lint: ## check style and the boundaries between projects
	@$(RUN) lint

typecheck: ## check the types of sources and tests
	@$(RUN) typecheck

build: ## build every project
	@$(RUN) build

bench: ## reproduce the numbers that the READMEs claim; DATA=folder with routing tables
	@$(RUN) bench $(if $(DATA),--data $(DATA))

chaos: ## induce failures and assert recovery; CHAOS_ONLY=word for those whose sentence holds it
	@$(RUN) chaos

verify: ## check that what is deployed equals what is declared and that the ledger reconciles
	@$(RUN) verify

verify-deep: ## the long versions of verify; CHECK=word for those whose name holds it
	@$(RUN) verify-deep $(CHECK)

logs: ## follow the logs of the running parts; PART=gateway for one
	@$(RUN) logs -f $(PART)

ci: ## lint, typecheck and test as CI does, with one line of totals at the end
	@.ci/run
