# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Trying endpoints, pages and folders, against servers on loopback."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from nemo_telemetry_actor.cli.doctor_facts import Node, Page
from nemo_telemetry_actor.cli.doctor_probe import (
    connect,
    read_pages,
    targets_named,
    targets_of,
    tcp_target,
    try_folders,
    try_http,
)
from nemo_telemetry_actor.config.load import load_config

PAGE = "ray_node_mem_used 1.0\nray_node_mem_total 2.0\n"


@asynccontextmanager
async def _serving(path: str, text: str, status: int = 200) -> AsyncIterator[TestServer]:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=text, status=status)

    app = web.Application()
    app.router.add_get(path, answer)
    server = TestServer(app)
    async with server:
        yield server


def _free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        return int(listening.getsockname()[1])


@pytest.mark.parametrize(
    ("kind", "endpoint", "insecure", "target"),
    [
        ("otlp/grpc ", "collector:4317", None, ("collector", 4317)),
        ("otlp/grpc ", "http://collector:4317", None, ("collector", 4317)),
        ("otlp/grpc ", "http://[::1]:4317/path", None, ("::1", 4317)),
        ("otlp/grpc ", "collector", None, ("collector", 443)),
        ("otlp/grpc ", "unix:/run/otel.sock", None, None),
        ("otlp/grpc ", "dns:///collector:4317", None, None),
        ("otlp/http ", "https://api.example/v1/metrics?key=x", None, ("api.example", 443)),
        ("otlp/http ", "collector:4318", True, ("collector", 4318)),
        ("otlp/http ", "http://collector", None, ("collector", 80)),
    ],
)
def test_an_endpoint_is_a_host_and_a_port_unless_only_grpc_knows_it(
    kind: str, endpoint: str, insecure: bool | None, target: tuple[str, int] | None
) -> None:
    assert tcp_target(kind, endpoint, insecure) == target


def test_the_names_of_exporters_hold_their_endpoints() -> None:
    otlp = [
        {"endpoint": "http://a:4317"},
        {"endpoint": "http://b:1/x", "protocol": "http/protobuf"},
    ]
    config = load_config({"export": {"otlp": otlp}}, {})

    wanted = targets_of(config)

    assert wanted == {"otlp/grpc http://a:4317": ("a", 4317), "otlp/http http://b:1/x": ("b", 1)}
    assert targets_named([*wanted, "console", "file /x"]) == wanted
    assert targets_named(["otlp/grpc a:1 #2"]) == {"otlp/grpc a:1 #2": ("a", 1)}


async def test_a_port_where_somebody_listens_is_reached_and_another_is_not() -> None:
    free = _free_port()
    async with _serving("/", "") as server:
        there = await connect("x", ("127.0.0.1", server.port or 0))
    gone = await connect("x", ("127.0.0.1", free))

    assert (there.problem, gone.problem) == ("", f"127.0.0.1:{free}: Connection refused")


async def test_a_name_that_only_grpc_resolves_is_not_tried() -> None:
    reach = await connect("x", None)

    assert (reach.problem, reach.note) == (
        "",
        "not tried from here: only gRPC resolves such a name",
    )


async def test_pages_are_read_and_each_says_what_is_wrong_with_it() -> None:
    async with _serving("/metrics", PAGE) as good, _serving("/metrics", "x 1\n") as other:
        nodes = [
            Node("1", "a", "127.0.0.1", good.port or 0),
            Node("2", "b", "127.0.0.1", other.port or 0),
            Node("3", "c", "127.0.0.1", 0),
            Node("4", "d", "not a host", 1),
        ]
        pages = await read_pages(nodes, may_read=True)

    assert [page.outcome for page in pages] == ["read", "no_family", "failed", "failed"]
    assert pages[1].problem.endswith("no ray_node_mem_used among 4 bytes")


async def test_pages_that_may_not_be_read_are_only_connected_to() -> None:
    async with _serving("/metrics", "", status=500) as server:
        node = Node("1", "a", "127.0.0.1", server.port or 0)
        pages = await read_pages([node], may_read=False)

    assert pages == (Page("a", "connected"),)


@pytest.mark.parametrize(
    ("status", "problem", "note"),
    [
        (200, "", "answers, all is well"),
        (401, "", "answers, and wants its token"),
        (503, "status 503", ""),
    ],
)
async def test_the_http_server_is_asked_how_it_is(status: int, problem: str, note: str) -> None:
    async with _serving("/healthz", "ok", status) as server:
        reach = await try_http(str(server.make_url("")).rstrip("/"), is_same_host=True)

    assert (reach.problem.endswith(problem), reach.note) == (True, note)


async def test_a_server_on_another_machines_loopback_is_not_tried() -> None:
    reach = await try_http(f"http://127.0.0.1:{_free_port()}", is_same_host=False)

    assert (reach.problem, "not tried from here" in reach.note) == ("", True)


def test_a_files_folder_is_looked_at_where_it_is_on_this_machine(tmp_path: Path) -> None:
    names = ["console", f"file {tmp_path}/x.jsonl", f"file {tmp_path}/none/x.jsonl"]

    here = try_folders(names, is_same_host=True)
    elsewhere = try_folders(names, is_same_host=False)

    assert [bool(reach.problem) for reach in here] == [False, True]
    assert here[1].problem == f"{tmp_path}/none: No such file or directory"
    assert {reach.note for reach in elsewhere} == {"on another machine, not looked at from here"}
