import subprocess
import sys

import pytest

from nigari.cty.types import STRING
from nigari.cty.values import unknown
from nigari.lang.files import MemoryFiles
from nigari.lang.functions.descriptions import DESCRIPTIONS
from nigari.lang.functions.table import CORE, IMPURE, FunctionTable, function_table
from tests.lang.functions.evaluation import evaluate, failure_of


def _table(console: bool = False) -> FunctionTable:
    return function_table(MemoryFiles({}), ".", console=console)


def test_every_name_has_a_function_under_both_names() -> None:
    table = _table()
    bare = [name for name in table if not name.startswith(CORE)]
    assert len(bare) == len(set(bare)) == len(table) // 2
    for name in bare:
        assert table[name] is table[CORE + name]


def test_only_the_console_has_type() -> None:
    assert "type" in _table(console=True)
    assert "type" not in _table()
    assert "plantimestamp" in _table()
    assert "plantimestamp" not in _table(console=True)


def test_unknown_name() -> None:
    table = _table()
    assert table.get("nope") is None
    assert table.get("core::nope") is None
    assert table.get("provider::aws::upper") is None


def test_every_function_is_described() -> None:
    names = {name for name in (*_table(), *_table(console=True)) if not name.startswith(CORE)}
    assert set(DESCRIPTIONS) == names


def test_nearest_name_is_suggested() -> None:
    assert "upper" in failure_of('uper("a")')
    assert "core::upper" in failure_of('core::uper("a")')


def test_looking_functions_up_loads_no_library() -> None:
    program = (
        "import sys\n"
        "from nigari.lang.files import MemoryFiles\n"
        "from nigari.lang.functions.table import function_table\n"
        "table = function_table(MemoryFiles({}), '.')\n"
        "assert 'nigari.lang.functions.networks' not in sys.modules\n"
        "[table[name] for name in table]\n"
        "loaded = {'nigari.regexp', 'yaml', 'cryptography', 'bcrypt', 'hashlib', 'uuid', 'gzip', 'ipaddress'}\n"
        "sys.exit(', '.join(loaded & sys.modules.keys()) or None)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("call", ["timestamp()", "uuid()", 'bcrypt("a")', "core::uuid()"])
def test_deferred_functions_are_unknown_for_a_cause(call: str) -> None:
    value, diags = evaluate(call, deferral=lambda name: f"because of {name}")
    assert not diags.has_errors
    name = call.removeprefix(CORE).partition("(")[0]
    assert name in IMPURE
    assert value.type is STRING
    assert not value.is_known
    assert value.causes == (f"because of {name}",)


def test_cause_of_a_deferred_function_travels() -> None:
    value, _ = evaluate('upper("a-${uuid()}")', deferral=lambda name: name)
    assert value.causes == ("uuid",)


def test_arguments_of_a_deferred_function_are_checked() -> None:
    _, diags = evaluate("uuid(1)", deferral=lambda name: name)
    assert diags.has_errors


def test_plan_timestamp() -> None:
    table = function_table(MemoryFiles({}), ".", plan_timestamp="2020-01-02T03:04:05Z")
    assert table["plantimestamp"].call([]).as_string() == "2020-01-02T03:04:05Z"
    before = function_table(MemoryFiles({}), ".", deferral=lambda name: name)
    value = before["plantimestamp"].call([])
    assert value == unknown(STRING)
    assert value.causes == ("plantimestamp",)
