"""A real editor: Neovim with the settings that the documents give, without a screen."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.lsp.configuration import FILES

_GUIDE: Final = Path(__file__).resolve().parents[2] / "docs" / "guides" / "editors.md"
_SCRIPT: Final = """\
local out = {}
local ok, failure = pcall(function()
  vim.wait(30000, function() return #vim.lsp.buf_get_clients(0) > 0 end, 50)
  vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 50)
  for _, each in ipairs(vim.diagnostic.get(0)) do
    table.insert(out, { "problem", each.lnum, each.code })
  end
  local function ask(method, line, column, more)
    vim.api.nvim_win_set_cursor(0, { line + 1, column })
    local params = vim.lsp.util.make_position_params()
    for key, value in pairs(more or {}) do params[key] = value end
    for _, answer in pairs(vim.lsp.buf_request_sync(0, method, params, 30000) or {}) do
      return answer.result
    end
  end
  table.insert(out, { "hover", ask("textDocument/hover", 13, 18).contents.value })
  local labels = {}
  for _, each in ipairs(ask("textDocument/completion", 13, 21).items) do
    table.insert(labels, each.label)
  end
  table.insert(out, { "completion", labels })
  local edit = ask("textDocument/rename", 0, 12, { newName = "place" })
  vim.lsp.util.apply_workspace_edit(edit, "utf-16")
  table.insert(out, { "renamed", vim.api.nvim_buf_get_lines(0, 0, -1, false) })
end)
if not ok then table.insert(out, { "failed", tostring(failure) }) end
vim.fn.writefile({ vim.json.encode(out) }, vim.env.NIGARI_OUT)
vim.cmd("qall!")
"""


@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed")
def test_neovim(tmp_path: Path) -> None:
    found = re.search(r"^```lua\n(.*?)^```$", _GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None
    home = tmp_path / "home"
    project = tmp_path / "project"
    programs = tmp_path / "bin"
    for directory in (home, programs, project / "net"):
        directory.mkdir(parents=True)
    (programs / "nigari").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m nigari "$@"\n')
    (programs / "nigari").chmod(0o755)
    (home / "init.lua").write_text(found[1])
    (home / "script.lua").write_text(_SCRIPT)
    text = FILES["main.tf"].replace("terraform_data.first.id", "terraform_data.frist.id")
    (project / "main.tf").write_text(text)
    (project / "net" / "main.tf").write_text(FILES["net/main.tf"])
    out = tmp_path / "out.json"
    environ = {
        **os.environ,
        "HOME": str(home),
        "XDG_STATE_HOME": str(home),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "NIGARI_OUT": str(out),
    }
    subprocess.run(
        [
            "nvim",
            "--headless",
            "-n",
            "-u",
            str(home / "init.lua"),
            "main.tf",
            "-S",
            str(home / "script.lua"),
        ],
        cwd=project,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    said = {each[0]: each[1:] for each in json.loads(out.read_text())}
    assert "failed" not in said, said
    assert said["problem"] == [15, "Reference to undeclared resource"]
    assert '"eu"' in said["hover"][0]
    assert {"region", "secret"} <= set(said["completion"][0])
    renamed = "\n".join(said["renamed"][0])
    assert 'variable "place"' in renamed
    assert "upper(var.place)" in renamed
