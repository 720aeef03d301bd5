# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Mapping
from typing import Any, TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from nemo_telemetry_actor.scrape.failures import FetchFailure
from tests.clients import LEASE_S
from tests.unit.actor.host_world import INTERVAL_S, Voucher, World, node, on_nodes
from tests.unit.scrape.builders import page

HOST_OF = {"n1": "alpha", "n2": "alpha", "n3": "beta"}
DOWN = FetchFailure("refused", "down")
UP = page(3.0, 8.0)

Event: TypeAlias = tuple[str, str, Any]

clients = st.sampled_from(["a", "b"])
nodes = st.frozensets(st.sampled_from(sorted(HOST_OF)), max_size=2)
events = st.one_of(
    st.tuples(
        st.just("vouches"), clients, st.dictionaries(st.sampled_from(["x", "y"]), nodes, max_size=2)
    ),
    st.tuples(st.sampled_from(["leaves", "falls silent"]), clients, st.none()),
    st.tuples(st.just("down"), st.just(""), st.frozensets(st.sampled_from(["alpha", "beta"]))),
    st.tuples(st.just("dead"), st.just(""), nodes),
    st.tuples(st.just("time passes"), st.just(""), st.none()),
)


class Job:
    """A driver and two workers on three raylets, and beside it what must be true of them."""

    def __init__(self) -> None:
        self.world = World()
        self.driver = self.world.client("d" * 32, opens_run=True)
        self.workers: dict[str, Voucher] = {}
        self.vouched: dict[str, Mapping[str, frozenset[str]]] = {}
        self.silent: set[str] = set()
        self.down: frozenset[str] = frozenset()
        self.dead: frozenset[str] = frozenset()

    def play(self, event: Event) -> None:
        match event:
            case "vouches", client, groups:
                if client not in self.workers:
                    self.workers[client] = self.world.client(client * 32)
                worker = self.workers[client]
                worker.join()  # as one does that was lost; to the others it changes nothing
                worker.vouch(*(on_nodes(group, *sorted(on)) for group, on in groups.items()))
                self.vouched[client] = groups
                self.silent.discard(client)
            case "leaves", client, _ if client in self.vouched and client not in self.silent:
                self.workers[client].send(closing="client")
                del self.vouched[client]
            case "falls silent", client, _:
                self.silent.add(client)
            case "down", _, hosts:
                self.down = hosts
            case "dead", _, some:
                self.dead = some
            case "time passes", _, _:
                self.pass_time(LEASE_S + INTERVAL_S)
                for client in self.silent:
                    self.vouched.pop(client, None)
            case _:
                pass

    def pass_time(self, seconds: float) -> None:
        while seconds > 0:
            self.world.clock.advance(INTERVAL_S)
            seconds -= INTERVAL_S
            for client in [self.driver, *self.speaking()]:
                client.send()
            self.world.core.tick()

    def speaking(self) -> list[Voucher]:
        return [self.workers[name] for name in self.vouched if name not in self.silent]

    def sweep(self) -> None:
        world = self.world
        world.cluster.rows = [
            node(name, host, 8080 + i, Alive=name not in self.dead)
            for i, (name, host) in enumerate(HOST_OF.items())
        ]
        world.fetcher.pages = {host: DOWN if host in self.down else UP for host in HOST_OF.values()}
        for client in [self.driver, *self.speaking()]:
            client.send()
        world.sweep()

    def truth(self) -> dict[str, str]:
        """The label of every host that lives and answers."""
        living = {name: host for name, host in HOST_OF.items() if name not in self.dead}
        labels = {}
        for host in set(living.values()) - self.down:
            here = {name for name, its_host in living.items() if its_host == host}
            groups = {
                group
                for of_client in self.vouched.values()
                for group, on in of_client.items()
                if not here.isdisjoint(on)
            }
            labels[host] = ",".join(sorted(groups)) or "none"
        return labels


@given(st.lists(events, max_size=8))
def test_whoever_comes_and_goes_each_host_has_one_point_with_a_true_label(
    course: list[Event],
) -> None:
    job = Job()
    for event in course:
        job.play(event)
        delivered = len(job.world.delivered())
        now = job.world.clock.time_ns()

        job.sweep()

        truth = job.truth()
        assert job.world.labels() == truth
        assert sorted(job.world.delivered()[delivered:]) == [
            (host, label, now) for host, label in sorted(truth.items())
        ]
