# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What the scraper asks of Ray. Works in any process that Ray runs, an actor among them."""

import asyncio
import importlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import ray

_DEFAULT_TOKEN_FILE: Final = "~/.ray/auth_token"  # noqa: S105  # a path
_OWN_HELPER: Final = "ray._private.authentication.http_token_authentication"
# Where Ray keeps the dashboard's address. The key `dashboard` in the same namespace will not do:
# without a dashboard it holds the default address, at which another cluster's may listen.
_DASHBOARD_KEY: Final = "webui:url"
_DASHBOARD_NAMESPACE: Final = "dashboard"


class RayCluster:
    """The cluster that this process is in. Every call leaves the event loop alone."""

    @property
    def ray_version(self) -> str:
        """The version of Ray in this process, which is the cluster's."""
        return str(ray.__version__)

    async def list_nodes(self) -> Sequence[Mapping[str, Any]]:
        """Return the rows of `ray.nodes()`; raises what Ray raises while the GCS is away."""
        return await asyncio.to_thread(ray.nodes)

    async def dashboard_url(self) -> str | None:
        """Return `host:port` of the dashboard, or None when there is none.

        `ray.worker` cannot tell: in an actor its address is the default one, whatever the port.
        """
        return await asyncio.to_thread(_dashboard_url)

    async def auth_headers(self) -> Mapping[str, str]:
        """Return the headers that the dashboard wants; empty while authentication is off."""
        return await asyncio.to_thread(auth_headers, os.environ)


def _dashboard_url() -> str | None:
    from ray.experimental import internal_kv

    if not internal_kv._internal_kv_initialized():  # type: ignore[no-untyped-call]
        return None
    found = internal_kv._internal_kv_get(_DASHBOARD_KEY, namespace=_DASHBOARD_NAMESPACE)
    url = found.decode(errors="replace").strip() if found else ""
    port = url.rpartition(":")[2]
    return url if port.isdecimal() and int(port) > 0 else None


def auth_headers(environ: Mapping[str, str]) -> dict[str, str]:
    """Return Ray's token as a header, from where Ray documents it, else from Ray's own helper."""
    if environ.get("RAY_AUTH_MODE") == "token" and (token := _token(environ)):
        return {"Authorization": f"Bearer {token}"}
    try:
        helper = importlib.import_module(_OWN_HELPER)
        return dict(helper.get_auth_headers_if_auth_enabled({}))
    except (ImportError, AttributeError):
        return {}  # a Ray from before authentication, or one that has moved its helper


def _token(environ: Mapping[str, str]) -> str:
    if token := environ.get("RAY_AUTH_TOKEN", "").strip():
        return token
    path = environ.get("RAY_AUTH_TOKEN_PATH") or _DEFAULT_TOKEN_FILE
    try:
        return Path(path).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError, RuntimeError):
        return ""
