# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from nemo_telemetry_actor.demo.digits import FloatArray
from nemo_telemetry_actor.demo.grpo import (
    AnswerBatch,
    GrpoLoss,
    GrpoOptions,
    group_advantages,
    grpo_loss,
    kl_divergence,
)
from nemo_telemetry_actor.demo.mlp import Mlp

NETWORK = Mlp(inputs=5, hidden=4, outputs=3)


def log_softmax(logits: FloatArray) -> FloatArray:
    result: FloatArray = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return result


def central_difference(values: FloatArray, index: tuple[int, ...], size: float) -> FloatArray:
    moved = values.copy()
    moved[index] += size
    return moved


def test_advantages_are_a_groups_own_standard_scores() -> None:
    rewards = np.array([[0.0, 1.0, 0.0, 1.0], [0.2, 0.4, 0.6, 0.8]])

    advantages = group_advantages(rewards)

    np.testing.assert_allclose(advantages[0], [-1.0, 1.0, -1.0, 1.0])
    np.testing.assert_allclose(advantages.mean(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(advantages.std(axis=1), 1.0)


def test_a_group_of_equal_rewards_teaches_nothing() -> None:
    advantages = group_advantages(np.full((2, 8), 0.3))

    np.testing.assert_array_equal(advantages, np.zeros((2, 8)))


def test_kl_of_a_policy_to_itself_is_zero_and_to_another_is_the_textbooks() -> None:
    fair = np.log([[0.5, 0.5]])
    biased = np.log([[0.9, 0.1]])

    assert kl_divergence(biased, biased)[0] == 0.0
    expected = 0.9 * np.log(0.9 / 0.5) + 0.1 * np.log(0.1 / 0.5)
    assert kl_divergence(biased, fair)[0] == pytest.approx(expected)


def random_batch(rng: np.random.Generator) -> AnswerBatch:
    answers = rng.integers(0, 3, (4, 6))
    generation = log_softmax(rng.normal(size=(4, 3)))
    return AnswerBatch(
        answers,
        np.take_along_axis(generation, answers, axis=1),
        group_advantages(rng.random((4, 6))),
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_at_the_weights_is_the_losses_numeric_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    images = rng.normal(size=(4, 5))
    weights = NETWORK.initial_weights(rng) + rng.normal(0.0, 0.3, NETWORK.size)
    reference = log_softmax(rng.normal(size=(4, 3)))
    batch = random_batch(rng)
    options = GrpoOptions(clip_ratio=0.2, kl_coefficient=0.3, entropy_coefficient=0.2)

    def loss_at(point: FloatArray) -> GrpoLoss:
        return grpo_loss(NETWORK.forward(point, images).log_probs, reference, batch, options)

    forward = NETWORK.forward(weights, images)
    gradient = NETWORK.backward(weights, images, forward, loss_at(weights).logits_gradient)

    numeric = np.array(
        [
            (
                loss_at(central_difference(weights, (index,), 1e-6)).loss
                - loss_at(central_difference(weights, (index,), -1e-6)).loss
            )
            / 2e-6
            for index in range(NETWORK.size)
        ]
    )
    np.testing.assert_allclose(gradient, numeric, atol=1e-7)


def test_an_answer_that_moved_past_the_clip_in_its_favour_pulls_no_more() -> None:
    now = np.log([[0.8, 0.2]])
    batch = AnswerBatch(
        answers=np.array([[0]]),
        generation_log_probs=np.log([[0.5]]),
        advantages=np.array([[1.0]]),
    )

    loss = grpo_loss(now, now, batch, GrpoOptions(0.2, kl_coefficient=0.0, entropy_coefficient=0.0))

    assert loss.clipped_fraction == 1.0
    assert loss.largest_ratio == pytest.approx(1.6)
    assert loss.loss == pytest.approx(-1.2)
    np.testing.assert_allclose(loss.logits_gradient, 0.0, atol=1e-12)


def test_a_bad_answer_that_became_likelier_still_pulls_in_full() -> None:
    now = np.log([[0.8, 0.2]])
    batch = AnswerBatch(
        answers=np.array([[0]]),
        generation_log_probs=np.log([[0.5]]),
        advantages=np.array([[-1.0]]),
    )

    loss = grpo_loss(now, now, batch, GrpoOptions(0.2, kl_coefficient=0.0, entropy_coefficient=0.0))

    assert loss.clipped_fraction == 0.0
    np.testing.assert_allclose(loss.logits_gradient, [[1.6 * 0.2, -1.6 * 0.2]])
