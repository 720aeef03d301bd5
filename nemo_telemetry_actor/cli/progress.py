# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A sign of life while a command waits, for people only."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def working(message: str) -> Iterator[None]:
    """Show `message` and that time goes by, on standard error, while the block runs.

    Shows nothing where standard error is no terminal: logs and pipes stay clean.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    # Text, because rich would read the brackets of an IPv6 address as markup.
    with console.status(Text(message)):
        yield
