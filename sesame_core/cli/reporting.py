"""`sesame status`."""

from __future__ import annotations

import sys


def status(*, json: bool) -> None:
    """Tell what the index holds and how fresh it is."""
    from ..api.sesame import Sesame
    from ..rendering import status as rendering
    from ..rendering import text

    with Sesame() as sesame:
        statistics, expiring, plugins = sesame.status(), sesame.expiring(), sesame.plugins.catalogue()
    if json:
        output = text.as_json(rendering.status_json(statistics, expiring, plugins))
    else:
        output = rendering.status_text(statistics, expiring, plugins)
    sys.stdout.write(output + "\n")
