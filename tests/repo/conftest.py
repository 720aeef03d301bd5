# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The source tree as fixtures: every file is read and parsed once a session."""

import ast
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = ("nemo_telemetry_actor", "tests", "benchmarks", "scripts")


def _files(suffix: str, *folders: str) -> Iterator[Path]:
    for folder in folders:
        for parent, children, names in os.walk(ROOT / folder):
            children[:] = [child for child in children if child != "__pycache__"]
            yield from (Path(parent, name) for name in sorted(names) if name.endswith(suffix))


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def sources() -> Mapping[str, str]:
    """Path within the checkout → text, of every Python file we wrote."""
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in _files(".py", *CODE)
    }


@pytest.fixture(scope="session")
def trees(sources: Mapping[str, str]) -> Mapping[str, ast.Module]:
    """Path within the checkout → syntax tree, of every Python file we wrote."""
    return {path: ast.parse(text, path) for path, text in sources.items()}


@pytest.fixture(scope="session")
def package_modules(sources: Mapping[str, str]) -> tuple[str, ...]:
    """Dotted names of every module of the package."""
    return tuple(
        path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for path in sources
        if path.startswith("nemo_telemetry_actor/")
    )


@pytest.fixture(scope="session")
def documents() -> Mapping[str, str]:
    """Path within the checkout → text, of every page we wrote."""
    pages = [*ROOT.glob("*.md"), *_files(".md", "docs", "benchmarks")]
    return {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in pages}
