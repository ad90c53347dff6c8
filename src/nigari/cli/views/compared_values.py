"""The two sides of a failed comparison, below the snippet of a diagnostic.

The data comes without its secrets; what is missing is shown as that.
"""

from __future__ import annotations

import json

from nigari.cli.views.difference_text import difference_text
from nigari.cli.views.presentation import Presentation
from nigari.cli.views.style import Style
from nigari.cty.types import DYNAMIC
from nigari.diagnostics import Difference
from nigari.diagnostics.layout import printable
from nigari.plan.differences.datum import Datum, data_datum
from nigari.plan.differences.difference import Fate
from nigari.plan.differences.value_comparison import compare


def compared_text(difference: Difference, colour: bool) -> str:
    """The difference in the layout of a plan; empty where the values only seem to be equal."""
    before = _datum(difference.before, "false", difference.before_sensitive)
    after = _datum(difference.after, difference.after_unknown, difference.after_sensitive)
    found = compare(before, after, DYNAMIC)
    if found.fate is Fate.SAME:
        return ""
    text = difference_text(found, 0, Presentation(Style(colour)))
    return text if colour else printable(text)


def _datum(data: str, unknown: str, secret: str) -> Datum:
    return data_datum(json.loads(data), json.loads(unknown), json.loads(secret))
