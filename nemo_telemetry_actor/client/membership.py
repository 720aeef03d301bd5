# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What a client says of itself."""

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from nemo_telemetry_actor.client.identity import new_client_id, process_attributes, sendable
from nemo_telemetry_actor.model.attributes import clean_text
from nemo_telemetry_actor.wire.messages import WIRE_VERSION, Hello


class Membership(msgspec.Struct, kw_only=True):
    """What a client says of itself when it joins.

    Args:
        client_id: Unique for the life of the client.
        job_id: Ray job of the process, hex; empty when it has none.
        run_id: The run it insists on; empty until one is stated or the actor has named one.
        scheduler_id: `SLURM_JOB_ID`, or empty.
        opens_run: Whether this is the run's driver.
        run_attributes: Resource attributes of the whole run, from its driver.
        own_attributes: Resource attributes of this process that were detected before.
        worker_group: Which worker group the process belongs to.
        rank: Its rank in the group.
    """

    client_id: str = msgspec.field(default_factory=new_client_id)
    job_id: str = ""
    run_id: str = ""
    scheduler_id: str = ""
    opens_run: bool = False
    run_attributes: Mapping[str, Any] = {}
    own_attributes: Mapping[str, Any] = {}
    worker_group: str | None = None
    rank: int | None = None

    def hello(self, first_sequence: int) -> Hello:
        """Return the greeting of this process as it is now."""
        own = process_attributes(os.environ, worker_group=self.worker_group, rank=self.rank)
        return Hello(
            WIRE_VERSION,
            self.client_id,
            self.job_id,
            self.run_id,
            clean_text(self.scheduler_id),
            self.opens_run,
            sendable(self.run_attributes),
            sendable({**self.own_attributes, **own}),
            first_sequence,
        )

    def open_run(
        self, run_attributes: Mapping[str, Any], own_attributes: Mapping[str, Any]
    ) -> None:
        """Speak for the run from now on, as its driver."""
        self.opens_run = True
        self.run_attributes = dict(run_attributes)
        self.own_attributes = dict(own_attributes)
        self.rank = self.rank if self.rank is not None else 0

    def forked(self) -> "Membership":
        """Return the membership of a forked child: another client, which never ends the run."""
        return Membership(
            job_id=self.job_id,
            run_id=self.run_id,
            scheduler_id=self.scheduler_id,
            worker_group=self.worker_group,
            rank=self.rank,
        )
