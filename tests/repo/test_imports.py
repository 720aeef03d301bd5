# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What loading the package costs a training process, and who may load what.

The directions between our packages are contracts of import-linter (`make check`); here are the
rules that it cannot see: costs, and parts of other people's packages.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence

import pytest

BACKENDS = ("ray", "grpc", "aiohttp", "opentelemetry", "prometheus_client", "sqlite3", "numpy")
ACTORS_HALF = tuple(
    f"nemo_telemetry_actor.{name}"
    for name in ("actor", "export", "ingest", "placement", "registry", "scrape", "state", "web")
)
MAX_IMPORT_S = 0.150

# Module prefix of others → where we may import it, as prefixes of our own modules.
SPEAKERS = {
    "grpc": ("nemo_telemetry_actor.export.otlp", "nemo_telemetry_actor.export.encode"),
    "opentelemetry.exporter": (
        "nemo_telemetry_actor.export.otlp",
        "nemo_telemetry_actor.export.encode",
    ),
    "opentelemetry.proto": ("nemo_telemetry_actor.export",),
    "opentelemetry.sdk": ("nemo_telemetry_actor.export",),
}

# Purges our modules before each import and keeps other people's: a module that leans on another
# of ours having been loaded fails, and Ray is loaded once and not sixty times.
IMPORT_EACH_ALONE = """
import importlib, sys

failed = []
for name in sys.argv[1:]:
    for loaded in [m for m in sys.modules if m.split(".")[0] == "nemo_telemetry_actor"]:
        del sys.modules[loaded]
    try:
        importlib.import_module(name)
    except Exception as error:
        failed.append(f"{name}: {error!r}")
sys.exit("\\n".join(failed) or 0)
"""

LIST_LOADED = """
import importlib, sys

for name in sys.argv[1:]:
    importlib.import_module(name)
print(*sorted(sys.modules))
"""

TIME_IMPORT = """
import time

start = time.perf_counter()
import nemo_telemetry_actor
print(time.perf_counter() - start)
"""


def _run(program: str, *arguments: str) -> str:
    """Run a program in a fresh interpreter and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _is_within(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(f"{prefix}.")


def _loaded_of(prefixes: Sequence[str], *modules: str) -> set[str]:
    """Load modules in a fresh interpreter; tell which of the prefixes came with them."""
    loaded = _run(LIST_LOADED, *modules).split()
    return {prefix for prefix in prefixes if any(_is_within(name, prefix) for name in loaded)}


def test_every_module_imports_alone(package_modules: Sequence[str]) -> None:
    _run(IMPORT_EACH_ALONE, *package_modules)


def test_importing_the_package_loads_no_backend() -> None:
    assert _loaded_of(BACKENDS, "nemo_telemetry_actor") == set()


def test_a_process_that_only_records_loads_nothing_of_the_actor(
    package_modules: Sequence[str],
) -> None:
    worker = [
        name
        for name in package_modules
        if name.startswith(("nemo_telemetry_actor.client.", "nemo_telemetry_actor.tee."))
        and name != "nemo_telemetry_actor.client.transport"  # the one that speaks Ray
    ]

    assert _loaded_of((*BACKENDS, *ACTORS_HALF), "nemo_telemetry_actor", *worker) == set()


def test_importing_the_package_is_quick() -> None:
    """The quickest of five: the machine may be busy, and only the package can make all five slow."""
    seconds = [float(_run(TIME_IMPORT)) for _ in range(5)]

    assert min(seconds) <= MAX_IMPORT_S


@pytest.mark.parametrize("foreign", sorted(SPEAKERS))
def test_only_its_own_modules_speak_a_protocol(
    foreign: str, trees: Mapping[str, ast.Module]
) -> None:
    importers = {
        path.removesuffix(".py").replace("/", ".")
        for path, tree in trees.items()
        if path.startswith("nemo_telemetry_actor/")
        and any(_is_within(name, foreign) for name in _imports(tree))
    }

    assert {name for name in importers if not name.startswith(SPEAKERS[foreign])} == set()
