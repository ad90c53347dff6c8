"""Random edits of real files: what is not touched stays as it was."""

import random
from collections import Counter
from pathlib import Path

import pytest

from nigari import hcl
from nigari.hcl.scanner import scan_lossless
from nigari.hcl.tokens import COMMENT
from nigari.hcl.writer_tree import AttributeText, BlockText, BodyText, Entry, Item
from tests.conformance import CONFORMANCE, needs_conformance

FILES = sorted(
    path
    for pattern in ("*.tf", "*.hcl", "*.tofu", "*.tfvars")
    for path in CONFORMANCE.rglob(pattern)
    if path.is_file() and path.stat().st_size < 20_000
)
ROUNDS = 3
TEXTS = (
    "a { b = 1 /* why */ }\n",
    "a { /* before */ b = 1 } # after\n",
    'x = 1 # one\na "l" { b = [1, /* in */ 2] } // two\n\n# three\nc {}\n',
    "a {\n  # only a comment\n}\n# end",
    "a { # open\n  b = 1\n  c { d = 1 /* e */ }\n  # close\n}\n",
    "# lone\n\na = 1\r\nb { c = 1 }\r\n",
    "\ufeff# marked\na = 1\n",
    'a = <<E\n# text\nE\nb { c = "# no /* comment */" }\n',
)
"""Files with comments wherever there can be some, and blocks on one line."""


def bodies(body: BodyText) -> list[BodyText]:
    return [body, *(item.body for item in body.everything() if isinstance(item, BlockText))]


class Edit:
    """One random edit of a body; `touched` has the items that it may change."""

    def __init__(self, body: BodyText, chance: random.Random) -> None:
        self.body = body
        self.chance = chance
        self.touched: set[int] = set()
        self.loses: list[str] = []
        """Comments that the edit takes away because it is meant to."""
        first = str(body.items[0]) if body.items else ""
        if not body.is_file and "\n" not in first:
            # It may have to be opened up.
            self.touched.update(id(item) for item in body.items)
        # What ends without a line end gets one before something is put after it.
        self.touched.update(id(each) for each in self.entries() if not each.tail.endswith("\n"))

    def entries(self) -> list[Entry]:
        return [item for item in self.body.items if isinstance(item, Entry)]

    def run(self) -> None:
        entries = self.entries()
        attributes = list(self.body.attributes)
        chosen = self.chance.choice(entries) if entries else None
        where = self.chance.choice(["before", "after", "end"])
        before = chosen if where == "before" else None
        after = chosen if where == "after" else None
        match self.chance.randrange(9):
            case 0:
                self.body.set("brand_new", [1, {"b": "${x}"}], before, after)
            case 1 if attributes:
                name = self.chance.choice(attributes)
                self.touched.add(id(self.body.attributes[name]))
                self.loses = comments(self.body.attributes[name].source)
                self.body.set(name, {"z": 1, "a": "two"})
            case 2 if chosen is not None:
                self.touched.add(id(chosen))
                self.loses = comments(str(chosen))
                if isinstance(chosen, BlockText):
                    self.touched.update(id(each) for each in chosen.body.everything())
                    self.body.remove_block(chosen)
                elif isinstance(chosen, AttributeText):
                    self.body.remove(chosen.name)
            case 3:
                self.body.insert_block("added", ["x y"], {"a": 1}, before, after)
            case 4 if chosen is not None and len(entries) > 1:
                other = self.chance.choice([each for each in entries if each is not chosen])
                self.touched.update(map(id, (chosen, other)))
                self.body.move(other, before, after)
            case 5 if isinstance(chosen, BlockText):
                self.touched.add(id(chosen))
                chosen.set_labels(["new", "labels"])
                chosen.set_type("renamed")
            case 6 if isinstance(chosen, AttributeText):
                self.touched.add(id(chosen))
                chosen.set_name("renamed")
            case 7 if isinstance(chosen, BlockText):
                chosen.body.append_block("inner", [], {"k": hcl.raw("var.k")})
                self.touched.update(map(id, (chosen, *chosen.body.everything())))
            case _ if chosen is not None:
                self.touched.add(id(chosen))
                self.loses = [*comments(chosen.lead)]
                chosen.set_comments("a comment\nof two lines")
            case _:
                pass


@needs_conformance
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(CONFORMANCE)))
def test_untouched_text_stays(path: Path) -> None:
    check(path.read_bytes().decode("utf-8", "surrogateescape"), path.name, ROUNDS)


@pytest.mark.parametrize("text", TEXTS)
def test_comments_and_blocks_on_one_line_stay(text: str) -> None:
    check(text, text, 200)


def check(text: str, name: str, rounds: int) -> None:
    """Edit a text in many ways, each time from the beginning."""
    assert str(hcl.edit(text)) == text
    sound = not hcl.edit(text).diagnostics.has_errors
    for round_ in range(rounds):
        chance = random.Random(f"{name}{round_}")
        document = hcl.edit(text)
        body = chance.choice(bodies(document.body))
        edit = Edit(body, chance)
        all_before = list(document.body.everything())  # kept alive: identities stay
        before = {id(item) for item in all_before}
        state = {id(item): texts_of(item) for item in all_before}
        edit.run()
        kept = [item for item in document.body.everything() if id(item) in before]
        for item in kept:
            if id(item) not in edit.touched:
                assert texts_of(item) == state[id(item)]
        gone = before - {id(item) for item in kept}
        assert gone <= edit.touched
        if sound:
            again = hcl.edit(str(document))
            assert not list(again.diagnostics), str(document)
            assert shape(again.body) == shape(document.body)
            had, lost = Counter(comments(text)), Counter(edit.loses)
            assert had - lost <= Counter(comments(str(document))), str(document)
        assert str(hcl.edit(str(document))) == str(document)


def comments(text: str) -> list[str]:
    """The comments of a text, without what stands around them."""
    tokens = scan_lossless(text)
    pairs = zip(tokens.kinds, tokens.texts, strict=True)
    return [token.strip() for kind, token in pairs if kind == COMMENT]


def texts_of(item: Item) -> str:
    if isinstance(item, AttributeText):
        return f"{item.lead}|{item.name}{item.equals}{item.source}|{item.tail}"
    assert isinstance(item, BlockText)
    return f"{item.lead}|{item.type}{item.header}|{item.tail}"


def shape(body: BodyText) -> list[object]:
    """What a body says, without its layout."""
    return [
        (item.name, item.source) if isinstance(item, AttributeText) else (item.type, item.labels)
        for item in body.everything()
        if isinstance(item, AttributeText | BlockText)
    ]
