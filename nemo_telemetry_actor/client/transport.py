# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The way to the actor: a Ray handle, behind the interface that the sender needs."""

import sys
from collections.abc import Callable
from typing import Any, Final, Protocol

from nemo_telemetry_actor.errors import ActorUnavailableError

ACTOR_NAME: Final = "nemo_telemetry"
ACTOR_NAMESPACE: Final = "nemo_telemetry"

OnDone = Callable[[bytes | None, Exception | None], None]
"""Takes the answer's bytes, or what went wrong. May be called from any thread."""


class Transport(Protocol):
    """Carries messages to the core. All calls come from the sender's thread."""

    def welcome(self, hello: bytes, timeout_s: float) -> bytes:
        """Say hello and wait for the answer.

        Raises:
            ActorUnavailableError: Nobody answers within the time.
        """
        ...

    def ingest(self, payload: bytes, on_done: OnDone) -> None:
        """Send a batch; returns at once, and calls `on_done` exactly once later."""
        ...

    def reset(self) -> None:
        """Forget the handle: what it led to is gone or does not answer."""
        ...


class RayTransport:
    """Looks the named actor up, in its own namespace, from any process that Ray runs.

    Never starts Ray, and never creates the actor by itself: a process that only reports must not.

    Args:
        revive: Called when there is no actor; returns the handle of a new one, or None where this
            process is not the one to make it.
        inherits_ray: Whether this process was forked from one in which Ray was initialised. Ray
            cannot be used here until it is initialised anew.
    """

    def __init__(
        self, *, revive: Callable[[], Any] | None = None, inherits_ray: bool = False
    ) -> None:
        self._handle: Any = None
        self._revive = revive
        self._inherits_ray = inherits_ray

    def welcome(self, hello: bytes, timeout_s: float) -> bytes:
        """See `Transport`."""
        ray = self._ray()
        try:
            answer: bytes = ray.get(self._actor(ray).welcome.remote(hello=hello), timeout=timeout_s)
        except (ray.exceptions.RayError, ValueError, OSError) as error:
            self.reset()
            raise ActorUnavailableError(f"no answer from the telemetry actor: {error}") from error
        return answer

    def ingest(self, payload: bytes, on_done: OnDone) -> None:
        """See `Transport`."""
        ray = self._ray()
        try:
            future = self._actor(ray).ingest.remote(payload=payload).future()
        except (ray.exceptions.RayError, ValueError, OSError) as error:
            self.reset()
            raise ActorUnavailableError(f"the telemetry actor is gone: {error}") from error

        def done(settled: Any) -> None:
            error = settled.exception()
            if error is None:
                on_done(settled.result(), None)
            elif isinstance(error, ray.exceptions.RayTaskError):
                on_done(None, error)  # the actor is there, and this batch makes it fail
            else:
                on_done(None, ActorUnavailableError(str(error)))

        future.add_done_callback(done)

    def reset(self) -> None:
        """See `Transport`."""
        self._handle = None

    def _actor(self, ray: Any) -> Any:
        """Return the handle.

        Raises:
            ValueError: There is no such actor, as Ray says it.
        """
        if self._handle is None:
            try:
                self._handle = ray.get_actor(ACTOR_NAME, namespace=ACTOR_NAMESPACE)
            except ValueError:
                self._handle = self._revive() if self._revive is not None else None
                if self._handle is None:
                    raise
        return self._handle

    def _ray(self) -> Any:
        """Return the ray module when this process can use it now.

        Raises:
            ActorUnavailableError: Ray is not imported, not initialised, or was initialised before
                a fork, after which its threads are not there.
        """
        ray = sys.modules.get("ray")
        if ray is None or not getattr(ray, "is_initialized", bool)():
            self._inherits_ray = False
            raise ActorUnavailableError("Ray is not initialised in this process yet")
        if self._inherits_ray:
            raise ActorUnavailableError(
                "this process was forked from one that uses Ray, whose threads are not here; use "
                "the 'spawn' or 'forkserver' start method, or record in the parent"
            )
        return ray


def call_at_actor_exit(callback: Callable[[], object]) -> bool:
    """Have something called when the Ray actor that this process runs exits gracefully.

    Ray calls an actor's `__ray_shutdown__` while its own calls still work; in `atexit`, which runs
    later, they do not. A method of that name that the actor's class has is called as well, first.

    Returns:
        Whether it will be called; False outside an actor, and where Ray does not allow it.
    """
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return False
    worker = ray._private.worker.global_worker  # there is no public way to the instance
    instance = next(iter(getattr(worker, "actors", {}).values()), None)
    if instance is None:
        return False
    of_class = getattr(instance, "__ray_shutdown__", None)

    def shut_down() -> None:
        try:
            if of_class is not None:
                of_class()
        finally:
            callback()

    try:
        instance.__ray_shutdown__ = shut_down
    except AttributeError:  # a class with __slots__
        return False
    return True
