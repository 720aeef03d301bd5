# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Print a pip constraints file that pins each dependency to the lower bound of pyproject.toml."""

import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

_BOUND = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)(\[[^]]*\])?>=(?P<version>[0-9.]+)")


def lowest_versions(requirements: Iterable[str]) -> list[str]:
    """Return `name==version` for every requirement of the form `name>=version`.

    Raises:
        ValueError: A requirement has no lower bound, so that nothing says what works.
    """
    pins = []
    for requirement in requirements:
        bound = _BOUND.match(requirement)
        if bound is None:
            raise ValueError(f"{requirement!r} has no lower bound; write name>=version")
        pins.append(f"{bound['name']}=={bound['version']}")
    return pins


def main() -> None:
    """Print the pins of the package and of the demo."""
    pyproject = Path(__file__).parent.parent / "pyproject.toml"
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    requirements = [*project["dependencies"], *project["optional-dependencies"]["demo"]]
    sys.stdout.write("\n".join(lowest_versions(requirements)) + "\n")


if __name__ == "__main__":
    main()
