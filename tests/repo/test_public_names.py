# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What users may import is written down once, exists, and is explained."""

import inspect
from types import ModuleType

import nemo_telemetry_actor


def _public_names(module: ModuleType) -> set[str]:
    """What a user finds in a module: our classes and functions without a leading underscore."""
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and str(getattr(value, "__module__", "")).startswith("nemo_telemetry_actor")
    }


def test_every_exported_name_exists() -> None:
    missing = [n for n in nemo_telemetry_actor.__all__ if not hasattr(nemo_telemetry_actor, n)]

    assert missing == []


def test_no_name_is_exported_twice() -> None:
    names = nemo_telemetry_actor.__all__

    assert len(names) == len(set(names))


def test_every_public_name_of_the_package_is_exported() -> None:
    assert _public_names(nemo_telemetry_actor) <= set(nemo_telemetry_actor.__all__)


def test_every_exported_name_is_explained() -> None:
    exported = {name: getattr(nemo_telemetry_actor, name) for name in nemo_telemetry_actor.__all__}
    code = {
        name: value
        for name, value in exported.items()
        if inspect.isclass(value) or inspect.isroutine(value)
    }

    assert [name for name, value in code.items() if not inspect.getdoc(value)] == []


def test_every_public_method_is_explained() -> None:
    classes = [
        value
        for name in nemo_telemetry_actor.__all__
        if inspect.isclass(value := getattr(nemo_telemetry_actor, name))
        and value.__module__.startswith("nemo_telemetry_actor")
    ]

    unexplained = [
        f"{owner.__name__}.{name}"
        for owner in classes
        for name, value in vars(owner).items()
        if not name.startswith("_") and (inspect.isroutine(value) or isinstance(value, property))
        if not inspect.getdoc(value)
    ]

    assert unexplained == []
