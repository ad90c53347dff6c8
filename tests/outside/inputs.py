"""What a directory is asked with: values for the variables it needs, and addresses to explain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from nigari import cty
from nigari.config.blocks.variable import Variable
from nigari.config.load import ModuleLoader
from nigari.diagnostics import Diagnostics
from nigari.hcl.native_body import NativeBody
from nigari.lang.files import DiskFiles

_BY_NAME: Final = {
    "cidr": "10.0.0.0/16",
    "region": "eu-west-1",
    "location": "westeurope",
    "zone": "europe-west1-b",
    "email": "ada@example.com",
    "domain": "example.com",
    "url": "https://example.com",
    "arn": "arn:aws:iam::123456789012:role/ada",
    "json": "{}",
    "date": "2030-01-01T00:00:00Z",
}

_META: Final = frozenset(("count", "for_each", "provider", "depends_on"))

Plain = str | int | bool | None | list["Plain"] | dict[str, "Plain"]


def write_values(directory: Path, target: Path) -> list[str]:
    """Write values for what has no default; gives the options that name all values."""
    given = sorted(directory.glob("fixtures*.tfvars"))[:1]
    options = [f"-var-file={path.name}" for path in given]
    module = ModuleLoader(DiskFiles()).load(str(directory), Diagnostics())
    variables = {} if module is None else module.variables
    needed = {name: each for name, each in variables.items() if each.default is None}
    if needed:
        values = {name: value_of(each) for name, each in needed.items()}
        target.write_text(json.dumps(values))
        options.insert(0, f"-var-file={target}")
    return options


def addresses(directory: Path) -> list[str]:
    """An output, a local and an argument of a resource, the first of each, to be explained."""
    module = ModuleLoader(DiskFiles()).load(str(directory), Diagnostics())
    if module is None:
        return []
    found = [f"output.{name}" for name in list(module.outputs)[:1]]
    found += [f"local.{name}" for name in list(module.locals)[:1]]
    for resource in list(module.resources.values())[:1]:
        body = resource.body
        names = list(body.attributes) if isinstance(body, NativeBody) else []
        written = [name for name in names if name not in _META]
        found += [f"{resource.addr}.{name}" for name in written[:1]]
    return found


def value_of(variable: Variable) -> Plain:
    """Something of the variable's type, chosen by its name where that tells something."""
    return _value(variable.type, variable.name)


def _value(type_: cty.Type, name: str) -> Plain:
    match type_:
        case cty.NUMBER:
            return 2
        case cty.BOOL:
            return True
        case cty.ListType() | cty.SetType():
            return [_value(type_.element, name)]
        case cty.MapType():
            return {"one": _value(type_.element, name)}
        case cty.TupleType():
            return [_value(each, name) for each in type_.elements]
        case cty.ObjectType():
            required = type_.attributes.keys() - type_.optional
            return {each: _value(type_.attributes[each], each) for each in sorted(required)}
    found = (text for part, text in _BY_NAME.items() if part in name)
    return next(found, name.replace("_", "-")[:20])
