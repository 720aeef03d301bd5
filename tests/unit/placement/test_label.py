# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import pytest

from nemo_telemetry_actor.model.placement import (
    MAX_GROUP_NAME_CHARS,
    NO_WORKER_GROUPS,
    check_group_name,
)
from nemo_telemetry_actor.placement.label import worker_groups_label

GROUPS = {
    "vllm_policy": frozenset({"n1", "n2"}),
    "lm_policy": frozenset({"n1"}),
    "reward_model_policy": frozenset[str](),
}


@pytest.mark.parametrize(
    ("node_ids", "label"),
    [
        (["n1"], "lm_policy,vllm_policy"),
        (["n2"], "vllm_policy"),
        (["n2", "n1"], "lm_policy,vllm_policy"),
        (["n3"], NO_WORKER_GROUPS),
        ([], NO_WORKER_GROUPS),
    ],
)
def test_a_host_is_labelled_with_the_groups_of_all_its_nodes_in_order(
    node_ids: list[str], label: str
) -> None:
    assert worker_groups_label(node_ids, GROUPS) == label


@pytest.mark.parametrize(
    "name", ["lm_policy", "teacher 0", "lehrer_ä漢", "None", "x" * MAX_GROUP_NAME_CHARS]
)
def test_a_name_that_a_label_can_hold_is_taken(name: str) -> None:
    assert check_group_name(name) == name


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "non-empty string, got ''"),
        (None, "non-empty string, got None"),
        (7, "non-empty string, got 7"),
        ("a,b", "comma"),
        (" a", "begins or ends with a space"),
        ("a\n", "begins or ends with a space"),
        ("a\nb", "cannot be printed"),
        ("a\ud800b", "cannot be printed"),
        ("none", "a host without groups"),
        ("x" * (MAX_GROUP_NAME_CHARS + 1), "129 characters; at most 128"),
    ],
)
def test_a_name_that_would_make_a_label_ambiguous_is_refused_with_the_reason(
    name: object, why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        check_group_name(name)
