# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Resource attributes of a driver and its run, by the OpenTelemetry SDK's own detectors."""

from collections.abc import Mapping
from typing import Any, Final

from opentelemetry.sdk.resources import (
    OsResourceDetector,
    ProcessResourceDetector,
    Resource,
    get_aggregated_resources,
)

# What is true of one process or machine only, and so not of a run's other processes.
_OF_PROCESS: Final = ("process.", "host.", "os.", "container.", "k8s.pod.", "k8s.node.")
# A command line may hold a token, and a resource goes to every backend.
_COMMAND: Final = frozenset({"process.command", "process.command_line", "process.command_args"})
# Names one process; ours is made for each of them.
_IDENTITY: Final = frozenset({"service.instance.id"})
_LEFT_OUT: Final = _COMMAND | _IDENTITY


def detect(service_name: str, own: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the resource attributes of a run, and those of this process alone.

    Read are `OTEL_RESOURCE_ATTRIBUTES`, the SDK's process and operating-system detectors, and the
    detectors that `OTEL_EXPERIMENTAL_RESOURCE_DETECTORS` names.

    Args:
        service_name: `service.name` of the run.
        own: Attributes that win over what is detected; None values are left out.
    """
    detected = get_aggregated_resources(
        [OsResourceDetector(), ProcessResourceDetector()], Resource.create()
    )
    attributes = {key: value for key, value in detected.attributes.items() if key not in _LEFT_OUT}
    of_process = {key: value for key, value in attributes.items() if key.startswith(_OF_PROCESS)}
    of_run = {key: value for key, value in attributes.items() if key not in of_process}
    of_run["service.name"] = service_name
    of_run.update({key: value for key, value in own.items() if value is not None})
    return of_run, of_process
