# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Files and functions stay small, say whose they are, and are called what they are."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 60
BANNED_MODULES = {"utils", "helpers", "common", "base", "misc", "manager", "types"}
SPDX_HEADER = (
    "# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors",
    "# SPDX-License-Identifier: Apache-2.0",
)
# Each word spelled with a class, so that this line is not found by itself.
UNFINISHED = re.compile(r"\b(T[O]DO|F[I]XME|X[X]X)\b")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def _functions(trees: Mapping[str, ast.Module]) -> Iterator[tuple[str, Function]]:
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, Function):
                yield f"{path}:{node.lineno} {node.name}", node


def _body_lines(function: Function) -> int:
    """Count a function's lines without its docstring, which may take what the contract needs."""
    first = function.body[0]
    explained = first.end_lineno or first.lineno
    documented = ast.get_docstring(function) is not None
    docstring = explained - first.lineno + 1 if documented else 0
    return (function.end_lineno or function.lineno) - function.lineno + 1 - docstring


def test_no_module_is_longer_than_a_reader_keeps_in_mind(sources: Mapping[str, str]) -> None:
    lengths = {path: text.count("\n") for path, text in sources.items()}

    assert {path: n for path, n in lengths.items() if n > MAX_MODULE_LINES} == {}


def test_no_function_is_longer_than_a_screen(trees: Mapping[str, ast.Module]) -> None:
    lengths = {where: _body_lines(function) for where, function in _functions(trees)}

    assert {where: n for where, n in lengths.items() if n > MAX_FUNCTION_LINES} == {}


def test_a_module_is_named_for_what_it_holds(sources: Mapping[str, str]) -> None:
    named = {
        path
        for path in sources
        if BANNED_MODULES & {part.removesuffix(".py") for part in PurePosixPath(path).parts}
    }

    assert named == set()


def test_production_code_has_no_method_for_tests_only(trees: Mapping[str, ast.Module]) -> None:
    assert [where for where, f in _functions(trees) if f.name.endswith("_for_testing")] == []


def test_every_source_file_says_whose_it_is(sources: Mapping[str, str], root: Path) -> None:
    scripts = [*root.glob("scripts/*.sh"), root / ".ci/run", root / "Makefile"]
    texts = {**sources, **{str(path): path.read_text(encoding="utf-8") for path in scripts}}

    without = []
    for path, text in texts.items():
        lines = [line for line in text.splitlines()[:3] if not line.startswith("#!")]
        if tuple(lines[:2]) != SPDX_HEADER:
            without.append(path)

    assert without == []


def test_nothing_is_left_for_later(
    sources: Mapping[str, str], documents: Mapping[str, str]
) -> None:
    found = {
        f"{path}: {line.strip()}"
        for path, text in {**sources, **documents}.items()
        for line in text.splitlines()
        if UNFINISHED.search(line)
    }

    assert found == set()
