# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Strict YAML: plain data only, no key twice, and the few implicit types that surprise nobody.

Plain scalars follow YAML 1.2's core schema: `on`, `no`, `2026-01-31` and `22:30` are texts, `1e3`
is a number. Errors name line and column and never quote the file, which may hold secrets.
"""

import re
from collections.abc import Hashable

import yaml

from nemo_telemetry_actor.errors import ConfigError

MAX_CHARACTERS = 1 << 20


class _StrictLoader(yaml.SafeLoader):
    # Without this, the table below would be SafeLoader's own.
    yaml_implicit_resolvers = {}  # noqa: RUF012 - PyYAML's class attribute, never written again

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Hashable, object]:
        """Build a mapping, refusing a key that stands twice (PyYAML keeps the last one)."""
        first_line: dict[str, int] = {}
        for key, _ in node.value:
            # A second "<<" merges one mapping more.
            if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge":
                continue
            line = key.start_mark.line + 1
            if first_line.setdefault(key.value, line) != line:
                problem = f"the key {key.value[:80]!r} is here again (first on line {first_line[key.value]})"
                raise _RepeatedKeyError(None, None, problem, key.start_mark)
        return super().construct_mapping(node, deep=deep)


class _RepeatedKeyError(yaml.constructor.ConstructorError):
    pass


for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("int", r"[-+]?(?:0|[1-9][0-9_]*)", "-+0123456789"),
    (
        "float",
        (
            r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
        ),
        "-+.0123456789",
    ),
    ("merge", r"<<", "<"),
):
    _StrictLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}",
        re.compile(rf"(?:{_pattern})\Z"),
        [first.strip("\0") for first in _first],
    )


def parse_yaml(text: str, label: str) -> object:
    """Read one YAML document; an empty one is `None`.

    Args:
        text: At most `MAX_CHARACTERS` characters.
        label: What errors call the text, mostly its path.

    Raises:
        ConfigError: It is no YAML, has a key twice, a tag, or more than one document. The message
            has line and column.
    """
    if len(text) > MAX_CHARACTERS:
        raise ConfigError(
            f"{label} has {len(text)} characters; it must be at most {MAX_CHARACTERS}; "
            "is it the right file?"
        )
    try:
        # A subclass of SafeLoader: it builds plain data and nothing else.
        return yaml.load(text, Loader=_StrictLoader)  # noqa: S506
    except yaml.MarkedYAMLError as error:
        problem = _where(error) + _without_quotes(error)
    except yaml.reader.ReaderError as error:
        problem = f": character {error.position} is not allowed in YAML; remove it"
    except RecursionError:
        problem = " is nested too deeply; it must have the few levels of a configuration"
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        problem = f" has a value that cannot be read ({type(error).__name__}); put it in quotes"
    # Outside the handlers, so that no traceback carries the parser's own text, which quotes the file.
    raise ConfigError(f"{label}{problem}")


def _where(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    return f", line {mark.line + 1}, column {mark.column + 1}: " if mark else ": "


def _without_quotes(error: yaml.MarkedYAMLError) -> str:
    """Say what PyYAML found wrong, without the pieces of the file that it quotes."""
    problem = error.problem or "this is no YAML"
    if isinstance(error, _RepeatedKeyError):
        return f"{problem}; each key must be given once; remove one of them"
    hidden = re.sub(r"'([^']*)'|\"[^\"]*\"", _quoted, problem)
    return f"{hidden}; correct the YAML there"


def _quoted(match: re.Match[str]) -> str:
    """Keep single characters and names of YAML's own tokens, such as `<block end>`."""
    text = match[1] or match[0]
    return match[0] if len(text) == 1 or text.startswith("<") else "(hidden)"
