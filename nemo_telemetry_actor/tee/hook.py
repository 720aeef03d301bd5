# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The hook around a logger class's `log_metrics`: what was logged is teed after the fan-out."""

import functools
import threading
from collections.abc import Callable
from typing import Any, Final

import msgspec

_METHOD: Final = "log_metrics"
_MARK: Final = "__nemo_telemetry_tee__"
_install_lock = threading.Lock()
_thread = threading.local()


class _Mark(msgspec.Struct, eq=False):
    """Rides on the hooked method, to know it again."""

    undo: Callable[[], None]
    is_live: bool = True


def install_logger_tee(logger_class: type, tee: Callable[[Any, Any], None]) -> Callable[[], None]:
    """Make every `log_metrics` of a class end with `tee(metrics, prefix)`.

    The method must have NeMo-RL's parameters `(metrics, step, prefix="", …)`; its signature and
    result stay. The tee runs after the class's own fan-out, on the same thread. Where hooked
    methods call each other (`super().log_metrics(…)`), only the outermost call is teed. When the
    method raises, nothing is teed and its exception goes on unchanged.

    A second installation on a class changes nothing, even with another `tee`.

    Args:
        logger_class: The class, not an instance.
        tee: Called with two positional arguments. What it raises reaches the caller of
            `log_metrics`, so it has to be guarded.

    Returns:
        A function that takes the hook away; the class is then as it was. Where something else has
        wrapped the method since, that is left in place and only the tee ends. Calling it again
        does nothing.

    Raises:
        TypeError: `logger_class` is no class, or has no `log_metrics`.
    """
    given: object = logger_class
    if not isinstance(given, type) or not callable(getattr(given, _METHOD, None)):
        raise TypeError(
            f"install_logger_tee takes a class that has {_METHOD}(metrics, step, prefix), "
            f"got {given!r}"
        )
    with _install_lock:
        mark = getattr(vars(logger_class).get(_METHOD), _MARK, None)
        if isinstance(mark, _Mark) and mark.is_live:
            return mark.undo
        return _install_locked(logger_class, tee)


def _install_locked(logger_class: type, tee: Callable[[Any, Any], None]) -> Callable[[], None]:
    own = vars(logger_class).get(_METHOD)  # None when it is inherited
    original = getattr(logger_class, _METHOD)

    def undo() -> None:
        with _install_lock:
            mark.is_live = False
            if vars(logger_class).get(_METHOD) is not hook:
                return
            if own is None:
                delattr(logger_class, _METHOD)
            else:
                setattr(logger_class, _METHOD, own)

    mark = _Mark(undo)
    hook = _hook(original, tee, mark)
    setattr(logger_class, _METHOD, hook)
    return undo


def _hook(
    original: Callable[..., Any], tee: Callable[[Any, Any], None], mark: _Mark
) -> Callable[..., Any]:
    @functools.wraps(original)
    def log_metrics(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if not mark.is_live or getattr(_thread, "is_logging", False):
            return original(self, *args, **kwargs)
        _thread.is_logging = True
        try:
            result = original(self, *args, **kwargs)
        finally:
            _thread.is_logging = False
        tee(
            args[0] if args else kwargs.get("metrics"),
            args[2] if len(args) > 2 else kwargs.get("prefix", ""),
        )
        return result

    setattr(log_metrics, _MARK, mark)
    return log_metrics
