# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import asyncio

import pytest

from nemo_telemetry_actor.scrape.slow_call import SlowCall


class Oracle:
    """Answers when it is told to."""

    def __init__(self) -> None:
        self.asked = 0
        self.may_answer = asyncio.Event()

    async def ask(self) -> int:
        self.asked += 1
        await self.may_answer.wait()
        return self.asked


async def test_a_call_that_hangs_is_not_made_twice_and_its_answer_is_the_next_one() -> None:
    oracle = Oracle()
    call = SlowCall(oracle.ask)

    for _ in range(3):
        with pytest.raises(TimeoutError):
            await call.answer(0.001)
    oracle.may_answer.set()

    assert [await call.answer(1.0), await call.answer(1.0)] == [1, 2]


async def test_what_the_call_raises_is_raised_and_the_next_call_is_a_new_one() -> None:
    answers = iter([ConnectionError("no GCS")])

    async def ask() -> int:
        error = next(answers, None)
        if error is not None:
            raise error
        return 7

    call = SlowCall(ask)

    with pytest.raises(ConnectionError):
        await call.answer(1.0)
    assert await call.answer(1.0) == 7


async def test_closing_ends_a_call_that_hangs() -> None:
    oracle = Oracle()
    call = SlowCall(oracle.ask)
    with pytest.raises(TimeoutError):
        await call.answer(0.001)

    call.close()
    call.close()
    oracle.may_answer.set()

    assert await call.answer(1.0) == 2
