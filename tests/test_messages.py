"""Every message is on a page of the reference, and the pages that messages name exist."""

from pathlib import Path
from typing import Final

import pytest

from nigari.cli.views.help_links import HELP_PAGES, SITE, help_address
from scripts.message_pages import ELSEWHERE, PAGES, PLACE, ROOT, messages, pages, trees
from tests.cli.process import nigari
from tests.markdown_pages import anchors

TITLES: Final = {title for packages in PAGES.values() for title in messages(packages)}


def test_the_pages_are_those_of_the_sources() -> None:
    """Written by `python -m scripts.message_pages`, as `make pictures` does."""
    written = {path.name: path.read_text(encoding="utf-8") for path in PLACE.glob("*.md")}
    del written["index.md"]
    assert written == pages()


def test_each_package_is_on_one_page() -> None:
    silent = set(ELSEWHERE)
    named = [package for packages in PAGES.values() for package in packages]
    assert len(named) == len(set(named))
    assert silent.isdisjoint(named)
    packages = {each.partition("/")[0] for each in trees()}
    others = sorted(packages - {*named, *silent})
    assert [each for each in others if messages((each,))] == []


def test_most_messages_have_an_explanation() -> None:
    said = [bool(text) for packages in PAGES.values() for text in messages(packages).values()]
    assert len(said) > 550
    assert sum(said) > 0.85 * len(said)


@pytest.mark.parametrize("summary", HELP_PAGES)
def test_help_is_for_messages_that_exist_and_leads_to_a_heading(summary: str) -> None:
    page, _, anchor = HELP_PAGES[summary].partition("#")
    words = ("count", "for_each", "Ephemeral", "Sensitive")
    computed = {summary.replace(word, "…") for word in words}
    assert not computed.isdisjoint(TITLES)
    assert anchor in anchors((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"))


def test_each_message_of_the_troubleshooting_page_names_it() -> None:
    text = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    rows = [line.partition("</a>")[2] for line in text.splitlines() if line.startswith("| <a id=")]
    found = {row.partition(" |")[0] for row in rows}
    assert len(found) >= 10
    assert found == {
        summary
        for summary, page in HELP_PAGES.items()
        if page == f"troubleshooting#{slug(summary)}"
    }


def slug(summary: str) -> str:
    return summary.lower().replace(" ", "-")


def test_the_terminal_names_the_page(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('variable "n" {}\n')
    done = nigari("-env=live", "plan", cwd=tmp_path)
    assert done.code == 1
    assert f"\n{SITE}troubleshooting.html#no-such-environment\n" in done.err
    assert help_address("Unsupported argument") == ""
