# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from nemo_telemetry_actor.tee.hook import install_logger_tee


class Tee:
    """Keeps what it was called with."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def __call__(self, *args: Any) -> None:
        self.calls.append(args)


def make_logger(journal: list[str] | None = None) -> Any:
    """Return a new class with NeMo-RL's `log_metrics`."""
    lines: list[str] = [] if journal is None else journal

    class Logger:
        def log_metrics(
            self,
            metrics: dict[str, Any],
            step: int,
            prefix: str | None = "",
            step_metric: str | None = None,
            step_finished: bool = False,
        ) -> str:
            """Log to every backend."""
            lines.append(f"logged {step} {prefix} {step_metric} {step_finished}")
            return "result"

    return Logger


@pytest.fixture
def tee() -> Tee:
    return Tee()


METRICS = {"loss": 1.0}


def wrap(logger_class: Any, seen: list[str], *, copies_attributes: bool) -> Any:
    """Put a wrapper of someone else over `log_metrics`, and return it."""
    wrapped = logger_class.log_metrics

    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        seen.append("wrapper")
        return wrapped(self, *args, **kwargs)

    if copies_attributes:
        functools.update_wrapper(wrapper, wrapped)
    logger_class.log_metrics = wrapper
    return wrapper


@pytest.mark.parametrize(
    ("call", "prefix"),
    [
        pytest.param(lambda log: log(METRICS, 1), "", id="no prefix"),
        pytest.param(lambda log: log(METRICS, 1, "train"), "train", id="positional"),
        pytest.param(lambda log: log(METRICS, 1, prefix="train"), "train", id="keyword"),
        pytest.param(lambda log: log(METRICS, 1, None), None, id="None"),
        pytest.param(lambda log: log(metrics=METRICS, step=1), "", id="all by keyword"),
        pytest.param(
            lambda log: log(prefix="train", step=1, metrics=METRICS), "train", id="any order"
        ),
        pytest.param(lambda log: log(METRICS, 1, "train", "axis", True), "train", id="all"),
        pytest.param(
            lambda log: log(METRICS, step=1, prefix="train", step_finished=True), "train", id="mix"
        ),
    ],
)
def test_the_tee_gets_metrics_and_prefix_as_two_positional_arguments(
    tee: Tee, call: Callable[[Any], Any], prefix: str | None
) -> None:
    logger_class = make_logger()
    install_logger_tee(logger_class, tee)

    result = call(logger_class().log_metrics)

    assert result == "result"
    assert tee.calls == [(METRICS, prefix)]
    assert tee.calls[0][0] is METRICS


def test_the_fan_out_comes_first_and_gets_its_arguments_unchanged() -> None:
    journal: list[str] = []
    logger_class = make_logger(journal)
    install_logger_tee(logger_class, lambda _metrics, _prefix: journal.append("teed"))

    logger_class().log_metrics(METRICS, 3, "train", step_metric="axis", step_finished=True)

    assert journal == ["logged 3 train axis True", "teed"]


def test_name_doc_and_signature_stay() -> None:
    logger_class = make_logger()
    before = logger_class.log_metrics

    install_logger_tee(logger_class, Tee())

    after = logger_class.log_metrics
    assert inspect.signature(after) == inspect.signature(before)
    assert (after.__name__, after.__qualname__) == (before.__name__, before.__qualname__)
    assert after.__doc__ == before.__doc__


def test_a_second_installation_changes_nothing(tee: Tee) -> None:
    logger_class = make_logger()
    undo = install_logger_tee(logger_class, tee)
    hooked = logger_class.log_metrics
    other = Tee()

    again = install_logger_tee(logger_class, other)

    logger_class().log_metrics(METRICS, 1)
    assert again is undo
    assert logger_class.log_metrics is hooked
    assert (tee.calls, other.calls) == ([(METRICS, "")], [])


def test_undo_leaves_the_class_as_it_was(tee: Tee) -> None:
    logger_class = make_logger()
    before = dict(vars(logger_class))
    undo = install_logger_tee(logger_class, tee)

    undo()
    undo()

    logger_class().log_metrics(METRICS, 1)
    assert dict(vars(logger_class)) == before
    assert tee.calls == []


def test_undo_of_an_inherited_method_leaves_it_inherited(tee: Tee) -> None:
    base = make_logger()

    class Child(base):  # type: ignore[misc, valid-type]  # a class made by a function
        pass

    undo = install_logger_tee(Child, tee)
    Child().log_metrics(METRICS, 1)
    base().log_metrics(METRICS, 2)
    undo()

    assert tee.calls == [(METRICS, "")]
    assert "log_metrics" not in vars(Child)
    assert Child.log_metrics is base.log_metrics


def test_after_an_undo_the_hook_can_be_installed_anew(tee: Tee) -> None:
    logger_class = make_logger()
    first = Tee()
    old_undo = install_logger_tee(logger_class, first)
    old_undo()

    undo = install_logger_tee(logger_class, tee)
    old_undo()

    logger_class().log_metrics(METRICS, 1)
    assert undo is not old_undo
    assert (first.calls, tee.calls) == ([], [(METRICS, "")])


@pytest.mark.parametrize("copies_attributes", [True, False])
def test_a_wrapper_put_over_the_hook_stays_when_the_hook_goes(
    tee: Tee, copies_attributes: bool
) -> None:
    logger_class = make_logger()
    undo = install_logger_tee(logger_class, tee)
    seen: list[str] = []
    wrapper = wrap(logger_class, seen, copies_attributes=copies_attributes)
    logger_class().log_metrics(METRICS, 1)
    undo()
    result = logger_class().log_metrics(METRICS, 2)

    assert logger_class.log_metrics is wrapper
    assert (seen, result) == (["wrapper", "wrapper"], "result")
    assert tee.calls == [(METRICS, "")]


@pytest.mark.parametrize("copies_attributes", [True, False])
@pytest.mark.parametrize("is_undone", [True, False])
def test_with_a_wrapper_between_there_is_still_one_tee_a_call(
    tee: Tee, copies_attributes: bool, is_undone: bool
) -> None:
    logger_class = make_logger()
    undo = install_logger_tee(logger_class, tee)
    wrap(logger_class, [], copies_attributes=copies_attributes)
    if is_undone:
        undo()
    install_logger_tee(logger_class, tee)
    logger_class().log_metrics(METRICS, 1)

    assert tee.calls == [(METRICS, "")]


def test_a_hooked_subclass_that_calls_its_hooked_base_is_teed_once(tee: Tee) -> None:
    base = make_logger()

    class Child(base):  # type: ignore[misc, valid-type]  # a class made by a function
        def log_metrics(self, metrics: Any, step: int, prefix: str = "") -> Any:
            return super().log_metrics(metrics | {"extra": 1.0}, step, prefix)

    base_tee = Tee()
    undo_base = install_logger_tee(base, base_tee)
    undo_child = install_logger_tee(Child, tee)

    Child().log_metrics(METRICS, 1, "train")
    base().log_metrics(METRICS, 2)
    undo_child()
    Child().log_metrics(METRICS, 3)
    undo_base()
    Child().log_metrics(METRICS, 4)

    assert tee.calls == [(METRICS, "train")]
    assert base_tee.calls == [(METRICS, ""), (METRICS | {"extra": 1.0}, "")]


def test_a_subclass_that_inherits_a_hook_is_teed_once(tee: Tee) -> None:
    base = make_logger()

    class Child(base):  # type: ignore[misc, valid-type]  # a class made by a function
        pass

    install_logger_tee(base, tee)
    Child().log_metrics(METRICS, 1)
    install_logger_tee(Child, tee)
    Child().log_metrics(METRICS, 2)

    assert len(tee.calls) == 2


def test_calls_of_several_threads_are_each_teed(tee: Tee) -> None:
    inside = threading.Barrier(2, timeout=10)

    class Logger:
        def log_metrics(self, metrics: Any, step: int, prefix: str = "") -> None:
            inside.wait()  # both threads are in the method at once

    install_logger_tee(Logger, tee)
    threads = [
        threading.Thread(target=Logger().log_metrics, args=({"i": i}, i, "train")) for i in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)

    assert sorted(tee.calls, key=str) == [({"i": 0}, "train"), ({"i": 1}, "train")]


def test_a_backends_exception_goes_on_unchanged_and_skips_the_tee(tee: Tee) -> None:
    error = ConnectionError("backend down")
    outcomes: Iterator[bool] = iter([True, False])

    class Logger:
        def log_metrics(self, metrics: Any, step: int, prefix: str = "") -> None:
            if next(outcomes):
                raise error

    install_logger_tee(Logger, tee)

    with pytest.raises(ConnectionError) as caught:
        Logger().log_metrics(METRICS, 1)
    Logger().log_metrics(METRICS, 2)

    assert caught.value is error
    assert tee.calls == [(METRICS, "")]


def test_a_wrong_call_fails_as_it_did_before(tee: Tee) -> None:
    logger_class = make_logger()
    install_logger_tee(logger_class, tee)

    with pytest.raises(TypeError, match="step"):
        logger_class().log_metrics(METRICS)

    assert tee.calls == []


@pytest.mark.parametrize("given", [object, make_logger()(), None, "Logger", len])
def test_what_is_no_logger_class_is_refused(given: Any) -> None:
    with pytest.raises(TypeError, match=r"a class that has log_metrics\(metrics, step, prefix\)"):
        install_logger_tee(given, Tee())
