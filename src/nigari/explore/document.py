"""The document of a page: everything that it shows, as one JSON text without secrets.

Values come from the views of the workspace; nothing is evaluated or planned here.
"""

from __future__ import annotations

import gzip
import json
import os
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from nigari.backends.harmless import without_credentials
from nigari.config.blocks.variable import Variable
from nigari.diagnostics import Diagnostic, Diagnostics
from nigari.diagnostics.secret_urls import hidden_url
from nigari.eval.tree.placement_rules import each_instance
from nigari.explore.configuration import ConfigurationData
from nigari.explore.fleet import fleet_data
from nigari.explore.graph import blocks_data, operations_data
from nigari.explore.page_source import Subject
from nigari.explore.plan import PlanData
from nigari.explore.secrets import Secrets
from nigari.explore.sources import SourceTable
from nigari.explore.state_values import StoredData
from nigari.explore.unmarked_secrets import note_tested, note_written
from nigari.explore.values import ValueTable
from nigari.fleet.units.graph_loader import Survey
from nigari.version import VERSION
from nigari.workspace.context.git import git
from nigari.workspace.views.blocks import BackendView
from nigari.workspace.views.module_views import ModuleView

FORMAT: Final = 1

Data = dict[str, object]


class Document:
    """The data of a page, and the secrets to leave out of everything else that is sent to the page."""

    def __init__(self, data: Data, secrets: Secrets) -> None:
        self.data = data
        self.secrets = secrets

    def json(self) -> str:
        """The document as JSON."""
        text = json.dumps(self.data, ensure_ascii=False, separators=(",", ":"))
        # Lone surrogates stand for bytes that are no text.
        return text.encode("utf-8", "replace").decode()

    def packed(self) -> str:
        """The same, compressed: what a page has in it. Nothing in it can end a script."""
        return b64encode(gzip.compress(self.json().encode(), 6, mtime=0)).decode()


def document_of(subject: Subject, command: str = "") -> Document:
    """The document of a configuration, with a plan where there is one, as a command shows it."""
    making = _Making(subject, command)
    return Document(making.whole(), making.secrets)


def fleet_document(survey: Survey, environ: Mapping[str, str], command: str = "") -> Document:
    """The document of a fleet, whose units are worked with in an environment."""
    data: Data = {
        **_header(os.path.basename(survey.root) or "/"),
        "made": made_data(survey.root, command),
        "configuration": {"modules": []},
        "values": {"rows": [], "texts": []},
        "blocks": [],
        "problems": [
            {
                "severity": each.severity.value,
                "summary": each.summary,
                "detail": each.detail,
                "at": None,
            }
            for each in (*survey.diagnostics, *survey.graph.warnings(survey.units))
        ],
        "files": [],
        "fleet": fleet_data(survey, environ),
    }
    # Names of units and texts of problems may quote addresses.
    cleaned = without_credentials(data)
    assert isinstance(cleaned, dict)
    return Document(cleaned, Secrets())


def _header(title: str, workspace: str = "default", environment: str = "") -> Data:
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": title,
        "workspace": workspace,
        "environment": environment,
    }


class _Making:
    """Puts the document of a subject together."""

    def __init__(self, subject: Subject, command: str) -> None:
        self.secrets = Secrets()
        self._subject = subject
        self._command = command
        self._sources = SourceTable(subject.evaluation.sources)

    def whole(self) -> Data:
        """Everything that there is to show."""
        subject, evaluation = self._subject, self._subject.evaluation
        root, backend = evaluation.run.root, evaluation.run.root.module.backend
        table = ValueTable(self._sources, self.secrets)
        view = None if backend is None else BackendView(evaluation, backend)
        configuration = ConfigurationData(table, subject.schemas).whole(
            ModuleView(evaluation, root), view
        )
        self._add_installed(configuration)
        self._add_variants(configuration)
        found: Data = {
            **_header(subject.title, subject.workspace, subject.environment),
            "configuration": configuration,
        }
        table.complete()
        modules: dict[str, str] = {}
        stored = plan = None
        if subject.state is not None:
            stored = StoredData(subject.state, subject.schemas, self.secrets)
        if subject.plan is not None:
            plan = PlanData(
                root.instance, self._sources, self.secrets, subject.plan, subject.reasons
            )
            for change in subject.plan.changes:
                self.secrets.note(change.before)
                self.secrets.note(change.after)
            modules = {str(each.address): str(each.address.module) for each in subject.plan.changes}
        found["blocks"] = blocks_data(evaluation.run, {})
        if subject.graph is not None:
            found["operations"] = operations_data(subject.graph, modules)
        problems = [*subject.diagnostics, *evaluation.run.diags]
        found["problems"] = [self._problem(each) for each in dict.fromkeys(problems)]
        self._note_written(root.module.variables)
        # Last, once everything that is secret has been seen.
        planned = "" if subject.plan is None else subject.plan.timestamp
        command = self.secrets.scrubbed(self._command)
        found["made"] = made_data(subject.directory, command, planned)
        found["values"] = table.data()
        if stored is not None:
            found["stored"] = stored.data()
        if plan is not None:
            found["plan"] = plan.data()
        found["files"] = self._sources.data(self.secrets)
        return found

    def _note_written(self, variables: Mapping[str, Variable]) -> None:
        hidden = {name for name, each in variables.items() if each.sensitive or each.ephemeral}
        note_written(self._sources.files(), hidden, self.secrets)
        note_tested(self._subject.directory, hidden, self.secrets)

    def _add_installed(self, configuration: Data) -> None:
        """The source of each module, and its version."""
        installed = {str(addr): place for addr, place in self._subject.installed.items()}
        modules = configuration["modules"]
        assert isinstance(modules, list)
        for module in modules:
            place = installed.get(module["address"])
            if place is not None:
                module["source"] = hidden_url(place.source)
                module["version"] = place.version

    def _add_variants(self, configuration: Data) -> None:
        """The variant of each module instance, by which blocks of the graph are named."""
        root = self._subject.evaluation.run.root.instance
        variants = {str(each.addr): str(each.variant) for each in each_instance(root)}
        modules = configuration["modules"]
        assert isinstance(modules, list)
        for module in modules:
            variant = variants.get(module["address"], module["address"])
            if variant != module["address"]:
                module["variant"] = variant

    def _problem(self, diagnostic: Diagnostic) -> Data:
        return {
            "severity": diagnostic.severity.value,
            "summary": self.secrets.scrubbed(diagnostic.summary),
            "detail": self.secrets.scrubbed(diagnostic.detail),
            "at": self._sources.place(diagnostic.subject),
        }


def made_data(directory: str, command: str, planned: str = "") -> Data:
    """The data for the head of a page; `planned` is when its plan was made."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    found: Data = {"at": now.replace("+00:00", "Z"), "planned": planned, "command": command}
    return {name: each for name, each in {**found, **_commit(directory)}.items() if each}


def _commit(directory: str) -> Data:
    """The commit of a directory, and whether its files differ from it; nothing without git."""
    unused = Diagnostics()
    commit = git(directory, unused, "rev-parse", "--verify", "--quiet", "HEAD")
    if commit is None:
        return {}
    asked = ("-c", "core.fsmonitor=false", "status", "--porcelain", "--untracked-files=no")
    changed = git(directory, unused, *asked, "--", ".")
    return {"commit": commit.decode().strip(), "is_changed": bool(changed)}
