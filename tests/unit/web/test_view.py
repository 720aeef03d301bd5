# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from nemo_telemetry_actor.web.view import Link, index_page


def test_the_page_links_every_page_with_its_purpose() -> None:
    page = index_page("Telemetry", None, [Link("/metrics", "for Prometheus")])

    assert '<li><a href="/metrics">/metrics</a> for Prometheus</li>' in page
    assert "<p>Working.</p>" in page


def test_every_value_is_escaped() -> None:
    page = index_page("<t>", "<p&>", [Link('/"x', "<i>")])

    assert "<h1>&lt;t&gt;</h1>" in page
    assert "<p>Trouble: &lt;p&amp;&gt;</p>" in page
    assert '<a href="/&quot;x">/&quot;x</a> &lt;i&gt;' in page
