# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import pytest

from nemo_telemetry_actor.catalogue.vocabulary import (
    GROUP_NAME,
    RecordedMetric,
    TeedMetric,
    Vocabulary,
    default_vocabulary,
    group_specs,
)
from nemo_telemetry_actor.model.instrument import MetricSpec

REWARD = TeedMetric("reward", "rl.reward.mean")
LOSS = TeedMetric("loss", "rl.policy.loss")
WAIT = RecordedMetric("rl.wait", "histogram", "s")

CATALOGUE = [
    ("reward", "rl.reward.mean", "gauge", ""),
    ("kl_penalty", "rl.kl.divergence", "gauge", ""),
    ("loss", "rl.policy.loss", "gauge", ""),
    ("critic/loss", "rl.value.loss", "gauge", ""),
    ("approx_entropy", "rl.entropy", "gauge", ""),
    ("mean_gen_tokens_per_sample", "rl.response.length.mean", "gauge", "{token}"),
    ("grad_norm", "rl.grad_norm", "gauge", ""),
    ("lr", "rl.learning_rate", "gauge", ""),
    ("loader_latency_max", "rl.sft_v2.loader.latency.max", "gauge", "s"),
    ("policy_time", "rl.sft_v2.policy.duration", "gauge", "s"),
    ("total_step_time", "rl.sft_v2.step.duration", "gauge", "s"),
    ("valid_tokens_per_second", "rl.sft_v2.valid_tokens_per_second", "gauge", "{token}/s"),
    ("vllm/prompt_tokens", "rl.vllm.prompt_tokens", "counter", "{token}"),
    ("vllm/generation_tokens", "rl.vllm.generation_tokens", "counter", "{token}"),
    ("vllm/prompt_length_mean", "rl.vllm.prompt_length.mean", "gauge", "{token}"),
    ("vllm/generation_length_mean", "rl.vllm.generation_length.mean", "gauge", "{token}"),
    ("vllm/generations_ok", "rl.vllm.generations.ok", "counter", "{generation}"),
    ("vllm/generations_failed", "rl.vllm.generations.failed", "counter", "{generation}"),
]


def test_the_teed_rows_are_the_catalogues() -> None:
    rows = default_vocabulary().teed()

    assert [(row.logger_key, row.name, row.kind, row.unit) for row in rows] == CATALOGUE


def test_the_recorded_row_has_boundaries_for_seconds() -> None:
    (row,) = default_vocabulary().recorded()

    assert (row.name, row.kind, row.unit) == ("rl.vllm.batch.duration", "histogram", "s")
    assert row.boundaries == (
        0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600,
    )  # fmt: skip


def test_the_specs_come_in_the_catalogues_order() -> None:
    vocabulary = default_vocabulary()

    specs = group_specs(vocabulary)

    dimensioned = [
        ("efficiency_seconds", "rl.efficiency.seconds", "gauge", "s"),
        ("efficiency_pct", "rl.efficiency.pct", "gauge", "%"),
        ("setup_duration", "rl.setup.duration", "gauge", "s"),
    ]
    assert GROUP_NAME == "rl"
    assert [(s.key, s.name, s.kind, s.unit) for s in specs[:3]] == dimensioned
    assert specs[3:-1] == tuple(row.spec() for row in vocabulary.teed())
    assert specs[-1:] == tuple(row.spec() for row in vocabulary.recorded())


def test_every_key_and_name_is_unique_and_every_registry_key_an_identifier() -> None:
    specs = group_specs(default_vocabulary())

    assert len({spec.name for spec in specs}) == len(specs)
    assert len({spec.key for spec in specs}) == len(specs)
    assert all(spec.key.isidentifier() for spec in specs)
    assert len({row[0] for row in CATALOGUE}) == len(CATALOGUE)


@pytest.mark.parametrize("spec", group_specs(default_vocabulary()), ids=lambda spec: spec.name)
def test_every_series_is_described_in_a_sentence(spec: MetricSpec) -> None:
    assert spec.description.endswith(".")
    assert spec.description[0].isupper()
    assert "\n" not in spec.description


def test_rows_are_returned_in_declaration_order() -> None:
    vocabulary = Vocabulary()

    vocabulary.declare_teed(REWARD)
    vocabulary.declare_teed(LOSS, TeedMetric("a", "rl.a"))
    vocabulary.declare_recorded(WAIT, RecordedMetric("rl.b"))

    assert [row.name for row in vocabulary.teed()] == ["rl.reward.mean", "rl.policy.loss", "rl.a"]
    assert [row.name for row in vocabulary.recorded()] == ["rl.wait", "rl.b"]


def test_an_identical_repeat_is_accepted_and_changes_nothing() -> None:
    vocabulary = Vocabulary()
    vocabulary.declare_teed(REWARD, LOSS)
    vocabulary.declare_recorded(WAIT)

    vocabulary.declare_teed(TeedMetric("reward", "rl.reward.mean"))
    vocabulary.declare_recorded(RecordedMetric("rl.wait", "histogram", "s"))

    assert vocabulary.teed() == (REWARD, LOSS)
    assert vocabulary.recorded() == (WAIT,)


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(TeedMetric("reward", "rl.other"), id="logger key with another name"),
        pytest.param(TeedMetric("reward", "rl.reward.mean", unit="s"), id="another unit"),
        pytest.param(TeedMetric("reward", "rl.reward.mean", "counter"), id="another kind"),
        pytest.param(TeedMetric("reward", "rl.reward.mean", description="x"), id="description"),
        pytest.param(TeedMetric("score", "rl.reward.mean"), id="name under another logger key"),
        pytest.param(TeedMetric("score", "rl.reward_mean"), id="another name of one registry key"),
        pytest.param(TeedMetric("score", "reward.mean"), id="the same without its prefix"),
        pytest.param(TeedMetric("wait", "rl.wait", "histogram", "s"), id="a recorded name"),
        pytest.param(TeedMetric("t", "rl.efficiency.seconds"), id="a name of the package"),
        pytest.param(TeedMetric("t", "rl.setup_duration"), id="a registry key of the package"),
    ],
)
def test_a_contradicting_teed_row_is_refused_with_its_whole_call(row: TeedMetric) -> None:
    vocabulary = Vocabulary()
    vocabulary.declare_teed(REWARD)
    vocabulary.declare_recorded(WAIT)

    with pytest.raises(ValueError, match="declared twice"):
        vocabulary.declare_teed(LOSS, row)

    assert vocabulary.teed() == (REWARD,)


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(RecordedMetric("rl.wait", "gauge", "s"), id="another kind"),
        pytest.param(RecordedMetric("rl.wait", "histogram", "s", "", (1.0,)), id="boundaries"),
        pytest.param(RecordedMetric("rl.reward.mean"), id="a teed name"),
        pytest.param(RecordedMetric("rl.reward_mean"), id="a teed row's registry key"),
        pytest.param(RecordedMetric("rl.efficiency.pct"), id="a name of the package"),
    ],
)
def test_a_contradicting_recorded_row_is_refused_with_its_whole_call(row: RecordedMetric) -> None:
    vocabulary = Vocabulary()
    vocabulary.declare_teed(REWARD)
    vocabulary.declare_recorded(WAIT)

    with pytest.raises(ValueError, match="declared twice"):
        vocabulary.declare_recorded(RecordedMetric("rl.b"), row)

    assert vocabulary.recorded() == (WAIT,)


def test_two_contradicting_rows_of_one_call_are_refused() -> None:
    with pytest.raises(ValueError, match="declared twice"):
        Vocabulary().declare_teed(REWARD, TeedMetric("reward", "rl.other"))


def test_nothing_is_declared_after_a_freeze() -> None:
    vocabulary = Vocabulary()
    vocabulary.declare_teed(REWARD)
    vocabulary.declare_recorded(WAIT)

    vocabulary.freeze()

    with pytest.raises(RuntimeError, match=r"'rl.policy.loss' declared after .* frozen"):
        vocabulary.declare_teed(LOSS)
    with pytest.raises(RuntimeError, match="frozen"):
        vocabulary.declare_teed(REWARD)
    with pytest.raises(RuntimeError, match="frozen"):
        vocabulary.declare_recorded(WAIT)
    assert (vocabulary.teed(), vocabulary.recorded()) == ((REWARD,), (WAIT,))


def test_each_default_vocabulary_is_new_and_open() -> None:
    default_vocabulary().freeze()

    default_vocabulary().declare_teed(TeedMetric("mine", "rl.mine"))

    assert "rl.mine" not in {row.name for row in default_vocabulary().teed()}
