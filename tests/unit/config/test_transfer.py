# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""To the actor and back, what may be shown, and what differs."""

import msgspec
import pytest

from nemo_telemetry_actor.config import (
    ConsoleConfig,
    ExportConfig,
    OtlpConfig,
    PrometheusConfig,
    TelemetryConfig,
)
from nemo_telemetry_actor.config.transfer import (
    decode_config,
    differences,
    encode_config,
    redacted,
    rows,
)
from nemo_telemetry_actor.errors import ConfigError

SECRET = "Bearer-3f9c"


def _with(*receivers: OtlpConfig, interval_s: float = 10.0) -> TelemetryConfig:
    return TelemetryConfig(export=ExportConfig(interval_s=interval_s, otlp=receivers))


WHOLE = _with(OtlpConfig(endpoint="h:4317", headers={"authorization": SECRET}))


def test_the_actor_gets_what_the_driver_had_headers_included() -> None:
    assert decode_config(encode_config(WHOLE)) == WHOLE


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        b"\xa1\xff",
        encode_config(WHOLE)[:-3],
        msgspec.msgpack.encode({"service_name": 3}),
        msgspec.msgpack.encode({"new_key": SECRET}),
        msgspec.msgpack.encode({"export": {"otlp": [{"endpoint": "h:1", "headers": SECRET}]}}),
        b"\x91" * 100_000,
    ],
)
def test_other_bytes_are_refused_without_showing_them(data: bytes) -> None:
    with pytest.raises(ConfigError, match=r"encoded configuration of \d+ bytes") as refused:
        decode_config(data)

    assert SECRET not in str(refused.value)
    assert refused.value.__context__ is None


def test_what_may_be_shown_has_all_but_the_header_values() -> None:
    shown = redacted(WHOLE)

    hidden = OtlpConfig(endpoint="h:4317", headers={"authorization": "<hidden>"})
    assert msgspec.convert(shown, TelemetryConfig) == _with(hidden)
    assert WHOLE.export.otlp[0].headers == {"authorization": SECRET}


def test_the_rows_of_a_configuration_have_a_path_and_json() -> None:
    shown = rows(WHOLE)

    assert SECRET not in str(shown)
    assert shown["export.otlp[0].headers"] == '{"authorization":"<hidden>"}'
    assert shown["export.interval_s"] == "10.0"
    assert shown["export.prometheus"] == "on"
    assert shown["export.console"] == "off"


def test_equal_configurations_do_not_differ() -> None:
    assert differences(WHOLE, decode_config(encode_config(WHOLE))) == ()


def test_each_difference_has_path_and_both_values() -> None:
    running = _with(OtlpConfig(endpoint="h:4317", timeout_s=3.0), interval_s=5.0)
    wanted = _with(OtlpConfig(endpoint="other:4317"))

    assert differences(running, wanted) == (
        "export.interval_s: running 5.0, wanted 10.0",
        'export.otlp[0].endpoint: running "h:4317", wanted "other:4317"',
        "export.otlp[0].timeout_s: running 3.0, wanted 10.0",
    )


@pytest.mark.parametrize("headers", [{}, {"authorization": "other"}, {"other": SECRET}])
def test_headers_only_differ(headers: dict[str, str]) -> None:
    wanted = _with(OtlpConfig(endpoint="h:4317", headers=headers))

    assert differences(WHOLE, wanted) == ("export.otlp[0].headers differs",)


def test_an_exporter_that_one_of_them_lacks_is_off() -> None:
    running = TelemetryConfig(export=ExportConfig(prometheus=None))
    wanted = TelemetryConfig(
        export=ExportConfig(
            prometheus=PrometheusConfig(resource_labels=("a",)), console=ConsoleConfig()
        )
    )

    assert differences(running, wanted) == (
        "export.prometheus: running off, wanted on",
        "export.console: running off, wanted on",
        'export.prometheus.resource_labels: running nothing, wanted ["a"]',
    )


def test_a_receiver_that_one_of_them_lacks_is_shown_without_its_headers() -> None:
    found = differences(WHOLE, _with())

    assert 'export.otlp[0].endpoint: running "h:4317", wanted nothing' in found
    assert SECRET not in str(found)
