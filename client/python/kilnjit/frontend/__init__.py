# SPDX-License-Identifier: Apache-2.0
"""From Python functions to KIR: source.py finds and proves the text, convert.py walks the tree, module.py numbers."""
