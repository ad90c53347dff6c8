"""Small directories, explored without a process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import nigari
from nigari.explore.document import Document, document_of
from nigari.explore.page_source import configuration_subject, plan_subject
from nigari.workspace.session.open_session import given_variables, working_directory
from nigari.workspace.session.session import Session

Data = Any  # what a page is told is JSON


def write(place: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def session(place: Path, variables: Mapping[str, object] | None = None) -> Session:
    return Session(working_directory(place, {}, None), given_variables(variables, ()))


def explored(
    place: Path, files: Mapping[str, str], variables: Mapping[str, object] | None = None
) -> Document:
    """The document of a configuration."""
    write(place, files)
    subject = configuration_subject(session(place, variables))
    assert subject is not None
    return document_of(subject)


def explored_plan(place: Path, files: Mapping[str, str], before: Mapping[str, str]) -> Document:
    """The document of a plan that is made after other files have been applied."""
    write(place, before)
    with nigari.open(place, environ={}) as work:
        if before:
            work.apply()
        write(place, files)
        work.plan().save(place / "plan.out")
    opened = session(place)
    subject = plan_subject(opened, str(place / "plan.out"))
    assert subject is not None, list(opened.diags)
    return document_of(subject)


class Values:
    """The values of a document by their names."""

    def __init__(self, document: Document) -> None:
        self.data = cast(Data, document.data)
        self._rows: dict[str, Data] = {row["name"]: row for row in self.data["values"]["rows"]}

    def row(self, name: str) -> Data:
        return self._rows[name]

    def text(self, name: str) -> str:
        found: str = self.data["values"]["texts"][self._rows[name]["text"]]
        return found

    def links(self, name: str) -> list[tuple[str, list[str]]]:
        """The references of a value as they are written, and what they lead to."""
        rows = self.data["values"]["rows"]
        return [
            (self.written(place), [rows[number]["name"] for number in numbers])
            for place, numbers in self._rows[name].get("links", [])
        ]

    def written(self, place: list[int]) -> str:
        file, start, end = place
        text: bytes = self.data["files"][file]["text"].encode("utf-16-le")
        return text[2 * start : 2 * end].decode("utf-16-le")
