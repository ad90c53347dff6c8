"""The pictures in the documents show what the program says now."""

from __future__ import annotations

import pytest

from scripts.pictures import PICTURES, PLACE, Picture, drawn


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_picture(picture: Picture) -> None:
    path = PLACE / f"{picture.name}.svg"
    assert path.read_text() == drawn(picture), "run scripts/pictures.py"


def test_no_picture_is_left_over() -> None:
    assert {path.stem for path in PLACE.glob("*.svg")} == {each.name for each in PICTURES}
