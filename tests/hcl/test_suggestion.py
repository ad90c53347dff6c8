"""Which name is taken for the one that was meant."""

from __future__ import annotations

import pytest

from nigari.hcl.suggestion import did_you_mean, suggest


@pytest.mark.parametrize(
    ("given", "names", "meant"),
    [
        pytest.param("regin", ["name", "region"], "region", id="a letter is missing"),
        pytest.param("regiion", ["name", "region"], "region", id="a letter is too many"),
        pytest.param("regoin", ["name", "region"], "region", id="two letters are swapped"),
        pytest.param("vra", ["input", "var"], "var", id="swapped in a short name"),
        pytest.param("oteghr", ["other"], None, id="more than two slips"),
        pytest.param("Region", ["regions", "region"], "region", id="another case is no slip"),
        pytest.param("REGION", ["region"], "region", id="however many letters it is"),
        pytest.param("nil", ["false", "true", "null"], "null", id="half of it is right"),
        pytest.param("x", ["π"], None, id="letters are not slips of each other"),
        pytest.param("x", ["y", "z"], None, id="in no alphabet"),
        pytest.param("ab", ["cd", "b"], "b", id="half of two letters"),
        pytest.param("abc", ["xyc"], None, id="a third is not enough"),
        pytest.param("a1", ["b1", "a2"], "b1", id="the first of equals"),
        pytest.param("", ["a"], None, id="nothing"),
    ],
)
def test_suggestion(given: str, names: list[str], meant: str | None) -> None:
    assert suggest(given, names) == meant


@pytest.mark.parametrize(
    ("given", "names", "meant"),
    [
        ("md5sum", ["md5", "sha1"], "md5"),
        ("number", ["network_numbers", "name"], "network_numbers"),
        ("number", ["network_numbers", "numbers_of_hosts"], None),
        ("x", ["π"], None),
    ],
    ids=["adds to a name", "part of a name", "part of two names", "unrelated"],
)
def test_sentence(given: str, names: list[str], meant: str | None) -> None:
    assert did_you_mean(given, names) == ("" if meant is None else f' Did you mean "{meant}"?')
