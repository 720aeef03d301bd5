# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterator

import pytest
from blockbuster import BlockBuster, blockbuster_ctx


@pytest.fixture(autouse=True)
def _no_blocking_call_on_the_event_loop() -> Iterator[BlockBuster]:
    with blockbuster_ctx() as guard:
        yield guard
