"""Random edits of a configuration in a running server, beside a fresh server with the same texts."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, Final

from nigari.lsp.text import LineMap
from tests.lsp.client import PULLED, Client, ErrorAnswer
from tests.lsp.configuration import FILES

_PIECES: Final = (
    *(
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        '"',
        "=",
        ".",
        ",",
        "\n",
        "\r\n",
        " ",
        "${",
        "# x\n",
        "/*",
        "*/",
    ),
    *(
        "var.region",
        "local.where",
        "module.net",
        "each.key",
        "upper(",
        "for x in ",
        "<<-EOT\n",
        "EOT\n",
    ),
    *('variable "q" {}\n', "locals {\n  q = 1\n}\n", 'module "z" {\n  source = "./net"\n}\n'),
    *('resource "terraform_data" "r" {\n  input = 1\n}\n', "é", "😀", "\u2028", "\x00", "source"),
)
_METHODS: Final = (
    "documentSymbol",
    "foldingRange",
    "documentLink",
    "semanticTokens/full",
    "diagnostic",
)
_PLACES: Final = (
    "hover",
    "definition",
    "completion",
    "documentHighlight",
    "signatureHelp",
    "prepareRename",
)


def _edit(dice: random.Random, text: str) -> tuple[int, int, str]:
    """A part of a text and what replaces it."""
    start = dice.randint(0, len(text))
    if dice.random() < 0.4:
        return start, min(len(text), start + dice.choice((1, 1, 2, 5, 20, 200))), ""
    return start, start, dice.choice(_PIECES)


def _position(text: str, offset: int) -> Any:  # noqa: ANN401 - as the protocol has it
    """The position of an offset. One between the two halves of a line end has none."""
    if text[max(0, offset - 1) : offset + 1] == "\r\n":
        offset += 1
    return LineMap(text, "utf-16").position(offset)


def _answers(client: Client, names: list[str], seed: int) -> dict[str, Any]:
    """Everything that the server says about some documents."""
    dice = random.Random(seed)
    client.request("nigari/settled")
    found: dict[str, Any] = {}
    for name in names:
        document = {"textDocument": client.document(name)}
        for method in _METHODS:
            found[f"{name} {method}"] = _asked(client, method, document)
        text = client.texts[name]
        for _ in range(12):
            place = client.at(name, _position(text, dice.randint(0, len(text))))
            for method in _PLACES:
                found[f"{name} {method} {place['position']}"] = _asked(client, method, place)
            context = {**place, "context": {"includeDeclaration": True}}
            found[f"{name} references {place['position']}"] = _asked(client, "references", context)
    symbols = client.request("workspace/symbol", {"query": ""})
    found["symbols"] = sorted(map(str, symbols))
    return found


def _asked(client: Client, method: str, params: dict[str, Any]) -> object:
    try:
        answer: object = client.request(f"textDocument/{method}", params)
    except ErrorAnswer as error:
        return f"{error.code}: {error}"
    return answer


def different_answers(root: Path, seed: int, edits: int) -> list[tuple[str, Any, Any]]:
    """Make edits, and return the answers that differ: what is asked, the fresh answer, the other."""
    dice = random.Random(seed)
    names = [*FILES, "net/more.tf"]
    optional = ("workspace/diagnostic/refresh",)
    with Client(root, {**FILES, "net/more.tf": ""}, PULLED, optional=optional) as client:
        for name in names:
            client.open(name)
        for number in range(edits):
            name = dice.choice(names)
            text = client.texts[name]
            if len(text) > 4_000 or dice.random() < 0.002:
                client.change(name, FILES.get(name, ""))
                continue
            start, end, new = _edit(dice, text)
            if any(text[max(0, each - 1) : each + 1] == "\r\n" for each in (start, end)):
                continue
            client.texts[name] = text[:start] + new + text[end:]
            range_ = {"start": _position(text, start), "end": _position(text, end)}
            client.changes(name, [{"range": range_, "text": new}])
            if number % 97 == 0:
                _asked(client, dice.choice(_PLACES), client.at(name, _position(text, 0)))
            if number % 500 == 499:
                client.request("nigari/settled")
        for name in names[: dice.randint(0, 3)]:
            client.change(name, FILES.get(name, ""))
        lived = _answers(client, names, seed)
        texts = dict(client.texts)
    with Client(root, {}, PULLED, optional=optional) as client:
        for name in names:
            client.open(name, texts[name])
        fresh = _answers(client, names, seed)
    return [(key, fresh[key], lived[key]) for key in fresh if fresh[key] != lived[key]]
