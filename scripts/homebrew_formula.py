"""Writes dist/nigari.rb, the Homebrew formula, from the distributions in dist/ and the package index.

    python -m scripts.homebrew_formula

Homebrew builds everything from sources and then distributes what it built. Libraries that it has itself are its
own; the others are resources of the formula.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Final

from nigari.version import VERSION
from scripts.package_index import FILES, project
from scripts.wheel_matrix import dependencies

ROOT: Final = Path(__file__).resolve().parents[1]
TARGET: Final = ROOT / "dist" / "nigari.rb"
_OF_HOMEBREW: Final = ("certifi", "cffi", "cryptography", "pycparser")
"""Python libraries that have a formula; the formula of cryptography brings the last three."""
_LEFT_OUT: Final = ("isal",)
"""An accelerator with an assembler; without it, archives are unpacked with zlib."""

_FORMULA: Final = """\
# Written by scripts/homebrew_formula.py for a tap: brew install nigari/tap/nigari
class Nigari < Formula
  include Language::Python::Virtualenv

  desc "Plan and apply OpenTofu configurations, and know why"
  homepage "https://github.com/nigari/nigari"
  url "{url}"
  sha256 "{sha256}"
  license "Apache-2.0"

  depends_on "pkgconf" => :build
  depends_on "rust" => :build # bcrypt, pysequoia
  depends_on "certifi"
  depends_on "cryptography"
  depends_on "libyaml"
  depends_on "python@3.14"

{resources}
  def install
    virtualenv_install_with_resources
    files = libexec/"share"
    man1.install_symlink files.glob("man/man1/*.1")
    bash_completion.install files/"bash-completion/completions/nigari"
    zsh_completion.install files/"zsh/site-functions/_nigari"
    fish_completion.install files/"fish/vendor_completions.d/nigari.fish"
  end

  test do
    (testpath/"main.tf").write <<~HCL
      resource "terraform_data" "example" {{
        input = "tofu"
      }}
    HCL
    system bin/"nigari", "init"
    system bin/"nigari", "apply", "-auto-approve"
    assert_match "tofu", shell_output("#{{bin}}/nigari state show terraform_data.example")
  end
end
"""


def source(name: str) -> tuple[str, str]:
    """Return the address and the checksum of the sources of a package's newest release."""
    (archive,) = (each for each in project(name)["urls"] if each["packagetype"] == "sdist")
    # A mirror of the index gives addresses of its own.
    return f"{FILES}{archive['url'].rpartition('/packages/')[2]}", archive["digests"]["sha256"]


def formula(archive: Path) -> str:
    """Return the text of the formula for an archive of our sources."""
    resources = []
    for name in dependencies():
        if name not in (*_OF_HOMEBREW, *_LEFT_OUT):
            url, sha256 = source(name)
            resources.append(
                f'  resource "{name}" do\n    url "{url}"\n    sha256 "{sha256}"\n  end\n'
            )
    return _FORMULA.format(
        url=f"{FILES}source/n/nigari/{archive.name}",
        sha256=hashlib.sha256(archive.read_bytes()).hexdigest(),
        resources="\n".join(resources),
    )


def main() -> None:
    """Write the formula."""
    archive = ROOT / "dist" / f"nigari-{VERSION}.tar.gz"
    if not archive.exists():
        sys.exit(f"there is no {archive}: run `make distributions`")
    TARGET.write_text(formula(archive), encoding="utf-8")


if __name__ == "__main__":
    main()
