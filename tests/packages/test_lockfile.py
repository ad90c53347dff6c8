from pathlib import Path

import pytest

from nigari.addrs.provider import Provider, default_provider
from nigari.diagnostics import Diagnostics, Severity
from nigari.hcl.source import Source
from nigari.lang.versions import ProviderConstraints, Version, parse_provider_constraints
from nigari.packages.providers.lockfile import (
    Locks,
    ProviderLock,
    adopt_predecessors,
    load_locks,
    lock_text,
    may_write,
    parse_locks,
    save_locks,
)
from nigari.record import replace

RANDOM = default_provider("random")
CANONICAL = """\
# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "example.com/team/demo" {
  version = "1.0.0-beta1"
}

provider "registry.opentofu.org/hashicorp/random" {
  version     = "3.1.0"
  constraints = ">= 3.0.0, < 4.0.0"
  hashes = [
    "h1:abc=",
    "zh:def",
  ]
}
"""


def constraints(text: str) -> ProviderConstraints:
    result = parse_provider_constraints(text, Diagnostics())
    assert result is not None
    return result


LOCKS = Locks(
    {
        RANDOM: ProviderLock(
            RANDOM,
            Version((3, 1, 0)),
            constraints(">= 3.0.0, < 4.0.0"),
            ("h1:abc=", "zh:def"),
        ),
        (demo := Provider("example.com", "team", "demo")): ProviderLock(
            demo, Version((1, 0, 0), "beta1"), ProviderConstraints()
        ),
    }
)


def parsed(text: str) -> tuple[Locks, Diagnostics]:
    diags = Diagnostics()
    return parse_locks(Source.from_bytes(".terraform.lock.hcl", text.encode()), diags), diags


def test_writing_and_reading() -> None:
    assert lock_text(LOCKS) == CANONICAL
    locks, diags = parsed(CANONICAL)
    assert not list(diags)
    assert locks == LOCKS
    assert lock_text(locks) == CANONICAL


def test_no_locks_and_no_file(tmp_path: Path) -> None:
    diags = Diagnostics()
    assert load_locks(tmp_path / "nothing", diags) == Locks()
    assert not list(diags)
    assert lock_text(Locks()) == CANONICAL.partition("\n\n")[0] + "\n"


COMMENTED = """\
# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.
# Ask Ann before changing this.

# why random: names
provider "registry.opentofu.org/hashicorp/random" {
  version = "3.1.0" # the last good one
  hashes = [
    # from the mirror
    "h1:abc=",
    "zh:def", // windows
  ]
}

# the end
"""


def test_comments_stay() -> None:
    locks, diags = parsed(COMMENTED)
    assert not list(diags)
    assert lock_text(locks) == COMMENTED


def test_comments_stay_with_what_is_left_after_an_upgrade() -> None:
    locks, _ = parsed(COMMENTED)
    lock = replace(
        locks.providers[RANDOM], version=Version((3, 2, 0)), hashes=("h1:abc=", "h1:new=")
    )
    expected = COMMENTED.replace("3.1.0", "3.2.0").replace(
        '    "zh:def", // windows\n', '    "h1:new=",\n'
    )
    assert lock_text(replace(locks, providers={RANDOM: lock})) == expected


def test_the_other_programs_header_is_replaced() -> None:
    locks, _ = parsed(CANONICAL.replace("tofu init", "terraform init"))
    assert lock_text(locks) == CANONICAL


def test_locks_of_the_other_registry_choose_versions_too() -> None:
    text = CANONICAL.replace("registry.opentofu.org", "registry.terraform.io")
    diags = Diagnostics()
    locks = adopt_predecessors(parsed(text)[0], diags)
    assert [each.summary for each in diags] == ["Lock file entries of Terraform reused"]
    assert (str(locks.providers[RANDOM].version), locks.providers[RANDOM].hashes) == ("3.1.0", ())
    diags = Diagnostics()
    assert adopt_predecessors(LOCKS, diags) == LOCKS
    assert not list(diags)


BLOCK = 'provider "registry.opentofu.org/hashicorp/random" {{\n{}\n}}\n'
REFUSED = [
    'provider "hashicorp/random" {\n  version = "1.0.0"\n}\n',
    'provider "terraform.io/builtin/terraform" {\n  version = "1.0.0"\n}\n',
    'provider "registry.opentofu.org/-/random" {\n  version = "1.0.0"\n}\n',
    'provider "a/b/c/d" {\n  version = "1.0.0"\n}\n',
    'provider {\n  version = "1.0.0"\n}\n',
    BLOCK.format(""),
    BLOCK.format('version = "1.0"'),
    BLOCK.format('version = "x"'),
    BLOCK.format("version = 1"),
    BLOCK.format("version = null"),
    BLOCK.format("version = var.x"),
    BLOCK.format('version = "1.0.0"\nconstraints = ">=1.0.0"'),
    BLOCK.format('version = "1.0.0"\nconstraints = "nonsense"'),
    BLOCK.format('version = "1.0.0"\nhashes = []'),
    BLOCK.format('version = "1.0.0"\nhashes = ["nocolon"]'),
    BLOCK.format('version = "1.0.0"\nhashes = [1]'),
    BLOCK.format('version = "1.0.0"\nhashes = "h1:x"'),
    BLOCK.format('version = "1.0.0"\nother = 1'),
    BLOCK.format('version = "1.0.0"') * 2,
    "something = 1\n",
    "provider {",
]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text: str) -> None:
    _, diags = parsed(text)
    assert diags.error_count >= 1
    assert all(diagnostic.subject is not None for diagnostic in diags)


def test_no_constraints_may_be_written_as_an_empty_string() -> None:
    locks, diags = parsed(BLOCK.format('version = "1.0.0"\nconstraints = ""'))
    assert not list(diags)
    assert not locks.providers[RANDOM].constraints


def test_a_module_lock_is_a_warning() -> None:
    locks, diags = parsed(CANONICAL + '\nmodule "a" {\n}\n')
    assert [d.severity for d in diags] == [Severity.WARNING]
    assert locks.providers == LOCKS.providers


def test_saving_replaces_the_file_whole(tmp_path: Path) -> None:
    path = tmp_path / ".terraform.lock.hcl"
    save_locks(path, LOCKS)
    assert path.read_text() == CANONICAL
    assert path.stat().st_mode & 0o777 == 0o644
    path.chmod(0o600)
    save_locks(path, Locks())
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    with pytest.raises(OSError, match="nothing"):
        save_locks(tmp_path / "nothing" / "lock", LOCKS)


OTHER_HASH = replace(LOCKS.providers[RANDOM], hashes=("h1:other=",))
OTHER_REMARK = replace(LOCKS.providers[RANDOM], constraints=ProviderConstraints())


@pytest.mark.parametrize(
    ("new", "writes", "readonly"),
    [
        (LOCKS, False, None),
        (replace(LOCKS, providers={**LOCKS.providers, RANDOM: OTHER_REMARK}), False, None),
        (replace(LOCKS, providers={**LOCKS.providers, RANDOM: OTHER_HASH}), True, Severity.WARNING),
        (Locks(), True, Severity.ERROR),
    ],
)
def test_when_the_file_is_written(new: Locks, writes: bool, readonly: Severity | None) -> None:
    diags = Diagnostics()
    assert may_write(LOCKS, new, False, diags) is writes
    assert not list(diags)
    assert not may_write(LOCKS, new, True, diags)
    assert [d.severity for d in diags] == ([] if readonly is None else [readonly])
