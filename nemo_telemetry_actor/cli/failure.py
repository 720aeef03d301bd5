# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""How a command says that it failed: what is wrong, then what to run next."""

import click


class CommandFailedError(click.ClickException):
    """A command could not do its work; the process ends with 1.

    Args:
        message: What is wrong, in a sentence.
        next_step: What to run or do now; the last line on standard error.
    """

    exit_code = 1

    def __init__(self, message: str, *, next_step: str) -> None:
        super().__init__(message)
        self.next_step = next_step
