# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import re

from hypothesis import given
from hypothesis import strategies as st

from nemo_telemetry_actor.model.instrument import INSTRUMENT_KINDS, Declaration
from nemo_telemetry_actor.model.naming import (
    RESERVED_NAMES,
    check_unique,
    family_names,
    family_of,
    identity_of,
    label_name,
)

# A small domain, so that collisions are frequent.
_NAMES = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["a", "target"]),
        st.lists(
            st.sampled_from([".", "_", "-", "a", ".total", ".seconds", ".sum", ".count", ".info"]),
            max_size=3,
        ).map("".join),
    ),
)
_DECLARATIONS = st.builds(
    Declaration,
    name=_NAMES,
    kind=st.sampled_from(INSTRUMENT_KINDS),
    unit=st.sampled_from(["", "s", "1", "{total}", "{a}/s", "sum"]),
)


@given(first=_DECLARATIONS, second=_DECLARATIONS)
def test_two_metrics_share_no_name_or_are_refused(first: Declaration, second: Declaration) -> None:
    names = [set(family_names(first)), set(family_names(second))]
    shares = bool(names[0] & names[1]) and identity_of(first) != identity_of(second)
    reserved = bool((names[0] | names[1]) & RESERVED_NAMES)

    try:
        check_unique([first, second])
    except ValueError:
        refused = True
    else:
        refused = False

    assert refused == (shares or reserved)


@given(
    name=st.from_regex(r"[A-Za-z][A-Za-z0-9_.\-/]{0,20}", fullmatch=True),
    kind=st.sampled_from(INSTRUMENT_KINDS),
    unit=st.text(st.characters(max_codepoint=127), max_size=12),
)
def test_every_name_is_legal_and_ends_in_its_unit(name: str, kind: str, unit: str) -> None:
    family = family_of(Declaration(name, kind, unit))  # type: ignore[arg-type]  # sampled kinds

    assert all(re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", part) for part in family.names)
    assert "__" not in family.exposed_name
    assert not family.unit or family.name.endswith(f"_{family.unit}")


@given(st.text(min_size=1))
def test_every_label_name_is_legal(key: str) -> None:
    assert re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", label_name(key))
    assert not label_name(key).startswith("__")
