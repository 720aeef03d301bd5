# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The page `docs/configuration.md`, made from the fields and the table of variables.

Regenerate it with `python -m nemo_telemetry_actor.config.document > docs/configuration.md`.
"""

import sys
from collections.abc import Iterator

from nemo_telemetry_actor.config.schema import KeyInfo, keys
from nemo_telemetry_actor.config.variables import VARIABLES

_HEAD = """\
<!-- Generated: python -m nemo_telemetry_actor.config.document > docs/configuration.md -->
# Configuration

One YAML file, every key optional: a file that sets one key keeps the defaults of the rest, and no
file at all works too. `configs/` holds a file for each common case; `configs/default.yaml` has every
key. An unknown key, a key given twice, a wrong type or a value out of range is an error that names
the path, the value, the limit and what to do.

Verify a file, and see what is in effect:

```bash
nemo-telemetry check-config configs/default.yaml
```

Plain values follow YAML 1.2: only `true` and `false` are booleans, and times are plain numbers with
the unit in the key's name. A block without content (`http:` alone) means its defaults.

## Keys
"""

_ENVIRONMENT = """
## Environment variables

The variables are read where `start()` is called, and travel to the actor with the configuration.

* What the file says beats a variable; variables fill what the file leaves unset.
* Without `export.otlp` in the file, an endpoint variable makes one receiver.
* An OTLP entry **without** `endpoint` takes from the variables what it leaves unset. An entry
  **with** `endpoint` takes nothing from them, so the environment's headers are never sent to another
  endpoint than the environment's.
* Where two variables are given, the first one wins. An empty variable counts as unset.
* A variable is read only where its value would be used. A bad one is an error that names it.

| Variable | Key | How it is read |
|---|---|---|
"""

_SECRETS = """
## Secrets

Header values appear in no log, page, error or listing; `<hidden>` stands for them. An endpoint with
a user, a query or a fragment is refused, because endpoints are shown. Keep the token of the HTTP
server in a file and name it in `http.token_file`.
"""


def configuration_page() -> str:
    """Return the page as Markdown."""
    return "".join([_HEAD, *_tables(), _ENVIRONMENT, *_variables(), _SECRETS])


def _tables() -> Iterator[str]:
    known = keys()
    for block in known.values():
        if not block.children:
            continue
        title = f"`{block.path}`" if block.path else "Top level"
        yield f"\n### {title}\n\n"
        yield f"{block.description}\n\n" if block.description else ""
        yield "| Key | Meaning | A value is | Default |\n|---|---|---|---|\n"
        prefix = {"": "", "export.otlp": "export.otlp[]."}.get(block.path, f"{block.path}.")
        for child in block.children:
            yield _row(child, known[f"{prefix}{child}"])


def _row(name: str, info: KeyInfo) -> str:
    default = info.default or "required"
    shown = default if info.children or not info.default else f"`{default}`"
    return f"| `{name}` | {info.description} | {info.limit} | {shown} |\n"


def _variables() -> Iterator[str]:
    for variable in VARIABLES:
        names = ", ".join(f"`{name}`" for name in variable.names)
        yield f"| {names} | `{variable.key}` | {variable.meaning} |\n"


if __name__ == "__main__":
    sys.stdout.write(configuration_page())
