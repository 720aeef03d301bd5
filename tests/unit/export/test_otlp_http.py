# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import errno

import aiohttp
import pytest

from nemo_telemetry_actor.errors import ExportError, MessageTooLargeError, RetryableExportError
from nemo_telemetry_actor.export.otlp_http import connection_failure

_RESET = aiohttp.ClientOSError(errno.ECONNRESET, "Connection reset by peer")
_BROKEN_PIPE = aiohttp.ClientOSError(errno.EPIPE, "Broken pipe")
_REFUSED = aiohttp.ClientOSError(errno.ECONNREFUSED, "Connection refused")
_CLOSING = ConnectionResetError("Cannot write to closing transport")


@pytest.mark.parametrize(
    ("error", "body_bytes", "kind"),
    [
        (_RESET, 2**20, MessageTooLargeError),
        (_BROKEN_PIPE, 2**20, MessageTooLargeError),
        (_CLOSING, 2**20, MessageTooLargeError),
        (aiohttp.ServerDisconnectedError(), 2**20, MessageTooLargeError),
        (_RESET, 2**18, RetryableExportError),
        (_REFUSED, 2**20, RetryableExportError),
        (aiohttp.ClientPayloadError("half an answer"), 2**20, RetryableExportError),
    ],
)
def test_a_connection_cut_under_a_large_body_counts_as_a_refusal_for_its_size(
    error: Exception, body_bytes: int, kind: type[ExportError]
) -> None:
    assert type(connection_failure("x", error, body_bytes)) is kind
