# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Admission of a batch into the registry: declared, in bounds, fresh; or a named drop."""
