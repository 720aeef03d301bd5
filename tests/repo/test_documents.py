# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The pages tell the truth about commands, names and files."""

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

import nemo_telemetry_actor
from nemo_telemetry_actor.cli.main import main

MAX_ARCHITECTURE_LINES = 150

_FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"\bnemo-telemetry (?P<name>[a-z][a-z-]*)")
_MAKE = re.compile(r"(?:^|`|\$ )make (?P<target>[a-z][a-z-]*)", re.MULTILINE)
_LINK = re.compile(r"\]\((?P<target>[^)#:]+)(?:#[^)]*)?\)")


def _blocks(page: str, language: str) -> list[str]:
    return [match["code"] for match in _FENCE.finditer(page) if match["language"] == language]


def _targets(makefile: str) -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))


def test_every_make_target_that_a_page_names_exists(
    documents: Mapping[str, str], root: Path
) -> None:
    targets = _targets((root / "Makefile").read_text(encoding="utf-8"))

    named = {
        (page, match["target"])
        for page, text in documents.items()
        for match in _MAKE.finditer(text)
    }

    assert ("README.md", "demo") in named
    assert ("README.md", "test") in named
    assert {(page, target) for page, target in named if target not in targets} == set()


def test_every_command_that_a_page_names_exists(documents: Mapping[str, str]) -> None:
    named = {
        (page, match["name"])
        for page, text in documents.items()
        for match in _COMMAND.finditer(text)
    }

    assert {(page, name) for page, name in named if name not in main.commands} == set()


def test_the_quickstart_uses_public_names_only(documents: Mapping[str, str]) -> None:
    (quickstart,) = _blocks(documents["README.md"], "python")

    used = {
        node.attr
        for node in ast.walk(ast.parse(quickstart))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "nta"
    }

    assert used
    assert used <= set(nemo_telemetry_actor.__all__)


def test_every_link_to_a_file_of_ours_leads_somewhere(
    documents: Mapping[str, str], root: Path
) -> None:
    broken = {
        (page, match["target"])
        for page, text in documents.items()
        for match in _LINK.finditer(text)
        if not (root / page).parent.joinpath(match["target"]).exists()
    }

    assert broken == set()


def test_the_changelog_has_a_place_for_the_next_entry(documents: Mapping[str, str]) -> None:
    assert "\n## [Unreleased]\n" in documents["CHANGELOG.md"]


def test_the_architecture_is_read_in_one_sitting(documents: Mapping[str, str]) -> None:
    assert documents["docs/architecture.md"].count("\n") <= MAX_ARCHITECTURE_LINES


@pytest.mark.parametrize("name", ["LICENSE", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_a_page_that_people_look_for_is_there(name: str, root: Path) -> None:
    assert (root / name).read_text(encoding="utf-8").strip()
