# SPDX-License-Identifier: Apache-2.0
# The commands of the house. CMake presets do the work (CMakePresets.json); this file only strings them
# together and makes the set-up part of every command.
PRESET ?= release
PREFIX ?= /usr/local
DESTDIR ?=
VENV   := build/venv
PYTHON := $(VENV)/bin/python

.PHONY: build demo test bench install setup configure venv format clean

build: configure venv
	cmake --build --preset $(PRESET)

demo: build
	$(PYTHON) demo/run.py

test: build
	$(PYTHON) tests/run.py $(TESTS)

bench: build
	$(PYTHON) tests/bench/run.py $(BENCHES)

install: build
	cmake --install build/$(PRESET) --prefix $(PREFIX)

setup:
	deploy/setup

configure: setup
	@test -f build/$(PRESET)/build.ninja || cmake --preset $(PRESET)

# A virtual environment on Debian's python3 that sees its numpy; kilnjit is imported from the build.
venv: setup
	@test -x $(PYTHON) || /usr/bin/python3 -m venv --system-site-packages $(VENV)
	@echo "$(CURDIR)/build/$(PRESET)/python" > $$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/kilnjit.pth

format:
	git ls-files '*.c' '*.h' '*.cpp' | xargs clang-format -i

clean:
	rm -rf build
