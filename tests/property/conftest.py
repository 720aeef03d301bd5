# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""How many examples: few by default, ten times as many with `HYPOTHESIS_PROFILE=long`."""

import os

from hypothesis import settings

# No deadline: a machine with other work on it is slow, and that says nothing about a law.
settings.register_profile("short", deadline=None)
settings.register_profile("long", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "short"))
