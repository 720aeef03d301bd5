# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Refuse trailing whitespace, carriage returns, and a file that does not end in one newline.

usage: whitespace.py [--fix] [FILE…]      without files: every text file that git knows or would
"""

import subprocess
import sys
from pathlib import Path

_RECORDED = ("tests/data/",)
"""Files under these are kept as they were received, byte for byte."""


def tidy(content: bytes) -> bytes:
    """Return the content as it should be: no blanks at line ends, one newline at the end."""
    lines = [line.rstrip() for line in content.splitlines()]
    text = b"\n".join(lines).rstrip(b"\n")
    return text + b"\n" if text else b""


def _known_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        check=True,
        capture_output=True,
    )
    return [Path(name) for name in listed.stdout.decode().split("\0") if name]


def _is_text(path: Path) -> bool:
    if path.is_symlink() or not path.is_file() or path.as_posix().startswith(_RECORDED):
        return False
    return b"\0" not in path.read_bytes()


def main(arguments: list[str]) -> int:
    """Check the files, or mend them with `--fix`; 1 when one was not as it should be."""
    fix = "--fix" in arguments
    named = [Path(argument) for argument in arguments if argument != "--fix"]
    untidy = 0
    for path in filter(_is_text, named or _known_files()):
        content = path.read_bytes()
        wanted = tidy(content)
        if content == wanted:
            continue
        untidy += 1
        sys.stdout.write(f"{path}: whitespace at a line's end, or no single newline at the end\n")
        if fix:
            path.write_bytes(wanted)
    return 1 if untidy else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
