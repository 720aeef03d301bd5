# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Looking placement groups up in Ray, without keeping an event loop waiting."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from nemo_telemetry_actor.placement.table import Answer, read_table

RESOLVE_TIMEOUT_S: Final = 5.0

Lookup = Callable[[str], Mapping[str, Any]]


def table_row(group_id: str) -> Mapping[str, Any]:
    """Return Ray's table entry of a group, empty when there is none. Blocks, about a millisecond.

    Raises:
        ValueError: The id is no placement group's.
        ConnectionError: This process is not part of a Ray cluster.
    """
    # Imported late, so that the rules below are tested in milliseconds.
    import ray
    from ray.util import placement_group_table
    from ray.util.placement_group import PlacementGroup

    if not ray.is_initialized():
        # Ray would start a cluster of its own here, in which there is no such group.
        raise ConnectionError("this process has left its Ray cluster")
    # Not PlacementGroupID.from_hex: that takes a malformed id for the nil one.
    group = PlacementGroup(ray.PlacementGroupID(bytes.fromhex(group_id)))
    row: dict[str, Any] = placement_group_table(group)
    return row


class PlacementResolver:
    """Asks Ray's control service where bundles are; no worker is asked.

    Owned by one event loop, and asked one question after another, so that a later answer is of a
    later time. All lookups of one question run in one thread, and there is never a second one: a
    lookup that hangs beyond its time is waited for by the next question, and joined by none.

    Args:
        timeout_s: Seconds that one question may take.
        lookup: Returns a group's table entry; may block and raise.
    """

    def __init__(self, *, timeout_s: float = RESOLVE_TIMEOUT_S, lookup: Lookup = table_row) -> None:
        self._timeout_s = timeout_s
        self._lookup = lookup
        self._thread: asyncio.Task[None] | None = None

    async def resolve(self, group_ids: Collection[str]) -> dict[str, Answer]:
        """Look each group up once. Does not raise: what is wrong with one costs that one.

        Returns:
            For every id where its bundles are, or the error: for those that were not reached in
            time a `TimeoutError`.
        """
        if not group_ids:
            return {}
        found: dict[str, Answer] = {}
        is_over = threading.Event()
        try:
            # What is not found in time gets an error of its own below.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._timeout_s):
                    await self._until_free()
                    self._thread = asyncio.create_task(
                        asyncio.to_thread(self._look_up_all, tuple(group_ids), found, is_over)
                    )
                    await self._until_free()
        finally:
            is_over.set()
        # The thread may still be writing: only what is asked for is read, one item at a time.
        late = TimeoutError(f"Ray gave no answer within {self._timeout_s:g} s")
        return {group_id: found.get(group_id, late) for group_id in group_ids}

    async def _until_free(self) -> None:
        if self._thread is not None:
            # Not awaited itself: who goes away would cancel the task, and not the thread under it.
            await asyncio.wait({self._thread})

    def _look_up_all(
        self, group_ids: tuple[str, ...], found: dict[str, Answer], is_over: threading.Event
    ) -> None:
        for group_id in group_ids:
            if is_over.is_set():
                return
            try:
                found[group_id] = read_table(self._lookup(group_id))
            except Exception as error:  # noqa: BLE001 — handed to who asked
                # Without the frames, which would be kept as long as the answer is.
                found[group_id] = error.with_traceback(None)
