"""The stubs say what there is."""

import subprocess
import sys

import pytest

pytest.importorskip("mypy")


def test_stubs_are_those_of_the_module(tmp_path):
    private = tmp_path / "private.txt"
    names = ["__all__", "_recording_of_bytes", "_register_block"]
    private.write_text("".join(f"legwork._legwork.{name}\n" for name in names))
    line = [sys.executable, "-m", "mypy.stubtest", "legwork._legwork", "--allowlist", private]
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
