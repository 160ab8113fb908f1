from __future__ import annotations

import os
import shutil
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

warnings.filterwarnings("ignore")


@pytest.fixture(scope="session")
def tdict_command(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Runs the command tdict: that of the variable TDICT, or one that go builds."""
    exe = os.environ.get("TDICT", "")
    if not exe:
        if not shutil.which("go"):
            pytest.skip("neither TDICT, the command of the Go module, nor go to build it")
        exe = str(tmp_path_factory.mktemp("bin") / "tdict")
        root = Path(__file__).parents[2]
        subprocess.run(["go", "build", "-o", exe, "./cmd/tdict"], cwd=root, check=True)

    def run(*args: object) -> str:
        done = subprocess.run([exe, *map(str, args)], capture_output=True, text=True)
        assert done.returncode == 0, f"tdict {args}: {done.stdout}{done.stderr}"
        return done.stdout

    run.exe = exe  # type: ignore[attr-defined]
    return run
