# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from nemo_telemetry_actor.demo.logger import History, Logger


def test_the_history_gives_a_keys_values_by_step_and_prefix() -> None:
    history = History()
    logger = Logger([history])

    logger.log_metrics({"reward": 0.1}, 1, prefix="train")
    logger.log_metrics({"accuracy": 0.5}, 1, prefix="validation")
    logger.log_metrics({"reward": 0.2}, 2, "train", step_finished=True)
    logger.log_metrics({"reward": 9.0}, 2)

    assert history.series("train", "reward") == [(1, 0.1), (2, 0.2)]
    assert history.series("validation", "accuracy") == [(1, 0.5)]
    assert history.series("", "reward") == [(2, 9.0)]


def test_a_row_keeps_what_was_logged_when_the_caller_changes_its_dict() -> None:
    history = History()
    metrics = {"reward": 0.1}

    Logger([history]).log_metrics(metrics, 1, prefix="train")
    metrics["reward"] = 0.9

    assert history.series("train", "reward") == [(1, 0.1)]
