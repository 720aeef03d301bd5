# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What a scraper's `Accept` and `Accept-Encoding` headers ask for."""

from typing import Final

TEXT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS_TYPE: Final = "application/openmetrics-text; version=1.0.0; charset=utf-8"


def wants_openmetrics(accept: str) -> bool:
    """Tell whether OpenMetrics is asked for at least as much as the older text format.

    A client that names neither gets the text format, which everything reads.
    """
    weights = _weights(accept)
    openmetrics = weights.get("application/openmetrics-text", 0.0)
    return openmetrics > 0 and openmetrics >= weights.get("text/plain", 0.0)


def accepts_gzip(accept_encoding: str) -> bool:
    """Tell whether the client takes a gzip body."""
    return _weights(accept_encoding).get("gzip", 0.0) > 0


def _weights(header: str) -> dict[str, float]:
    """Return the highest weight of each item; one whose weight cannot be read counts as absent."""
    weights: dict[str, float] = {}
    for item in header.split(","):
        name, *parameters = (part.strip().lower() for part in item.split(";"))
        weight = 1.0
        for parameter in parameters:
            if parameter.startswith("q="):
                weight = _weight(parameter[2:])
        weights[name] = max(weight, weights.get(name, 0.0))
    return weights


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
