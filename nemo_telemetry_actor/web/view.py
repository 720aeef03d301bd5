# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""HTML of the server's pages: pure functions, every value escaped."""

from collections.abc import Iterable
from html import escape

import msgspec


class Link(msgspec.Struct, frozen=True):
    """One page of the server, and what it is for."""

    path: str
    purpose: str


def index_page(title: str, problem: str | None, links: Iterable[Link]) -> str:
    """Return the start page: the state in one line, then what else there is."""
    state = "Working." if problem is None else f"Trouble: {problem}"
    items = "\n".join(
        f'<li><a href="{escape(link.path)}">{escape(link.path)}</a> {escape(link.purpose)}</li>'
        for link in links
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">'
        f"<title>{escape(title)}</title></head>\n"
        f"<body>\n<h1>{escape(title)}</h1>\n<p>{escape(state)}</p>\n<ul>\n{items}\n</ul>\n"
        "</body>\n</html>\n"
    )
