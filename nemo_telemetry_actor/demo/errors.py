# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What can end the demo early.

::

    DemoError
    ├── PlacementError         the cluster has no room for a worker group
    └── CollectorBrokenError   rollouts keep failing; the cause is the last failure
"""


class DemoError(Exception):
    """Root of the demo's own errors; the message says what to do."""


class PlacementError(DemoError):
    """The cluster has no room for a worker group."""


class CollectorBrokenError(DemoError):
    """Rollouts keep failing; the cause is the last failure."""
