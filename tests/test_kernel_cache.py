"""A kernel compiled from other sources than the present ones can never run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import multiarm
from multiarm.sweeps import jit

ROOT = Path(multiarm.__file__).parent.parent

PROGRAM = """
import numpy as np
import multiarm as ma
m = ma.Mechanism()
m.add_arm("arm", ma.robots.planar(2))
model = m.compile()
print(ma.kinematics(model, model.state(q=[0.3, 0.4])).pose("arm/tip").translation.tolist())
"""


def run(folder: Path, kernels: Path) -> subprocess.CompletedProcess:
    environment = os.environ | {"PYTHONPATH": str(folder), "MULTIARM_CACHE_DIR": str(kernels)}
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)


@pytest.fixture
def copy(tmp_path):
    for package in ("multiarm", "graphs", "contacts"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_editing_a_helper_file_recompiles_and_nothing_else_does(copy, tmp_path):
    kernels = tmp_path / "kernels"
    first = run(copy, kernels)
    assert "compiling kernels" in first.stderr

    second = run(copy, kernels)
    assert second.stdout == first.stdout
    assert "compiling" not in second.stderr

    # the kernel `locate` stands in kinematics.py; `spin`, which it inlines through two other files, in values.py
    helper = copy / "multiarm" / "sweeps" / "values.py"
    source = helper.read_text()
    assert "c * r[0] + s * r[1]" in source
    stamp = helper.stat()
    helper.write_text(source.replace("c * r[0] + s * r[1]", "c * r[0] - s * r[1]"))
    os.utime(helper, (stamp.st_atime, stamp.st_mtime))  # an unchanged date must not help a stale kernel
    third = run(copy, kernels)
    assert "compiling kernels" in third.stderr
    assert third.stdout != first.stdout

    helper.write_text(source)
    fourth = run(copy, kernels)
    assert fourth.stdout == first.stdout
    assert "compiling" not in fourth.stderr


def test_a_damaged_or_unwritable_cache_only_costs_time(copy, tmp_path):
    kernels = tmp_path / "kernels"
    first = run(copy, kernels)
    machine_code = list(kernels.rglob("*.nbc"))
    assert machine_code
    for file in machine_code:
        file.write_bytes(file.read_bytes()[:100])
    assert run(copy, kernels).stdout == first.stdout

    blocked = tmp_path / "a file, not a folder"
    blocked.write_text("")
    without = run(copy, blocked)
    assert without.stdout == first.stdout
    assert "cannot be cached" in without.stderr


def test_kernels_live_only_where_the_digest_sees_them():
    with pytest.raises(ImportError, match="must live in"):
        jit.kernel(lambda x: x)


def test_digest_follows_every_source_file(tmp_path):
    (tmp_path / "a.py").write_text("1")
    (tmp_path / "b.py").write_text("2")
    before = jit.source_digest(tmp_path)
    jit.source_digest.cache_clear()
    assert jit.source_digest(tmp_path) == before
    (tmp_path / "b.py").write_text("3")
    jit.source_digest.cache_clear()
    assert jit.source_digest(tmp_path) != before
    jit.source_digest.cache_clear()


def test_only_old_kernels_are_cleared_away(tmp_path):
    names = ["kernels-0123456789abcdef", "kernels-fedcba9876543210", "my_thesis_data16", "kernels-of-my-own"]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("")
        os.utime(tmp_path / name, (0, 0))
    current = tmp_path / "kernels-0000000000000000"
    current.mkdir()
    os.utime(tmp_path / "kernels-fedcba9876543210")  # used today
    jit._forget_old_folders(current)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*names[1:], current.name])


def test_the_cache_has_a_place_whoever_runs_it(monkeypatch, tmp_path):
    monkeypatch.delenv("MULTIARM_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert jit.cache_root() == tmp_path / ".cache" / "multiarm"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert jit.cache_root() == tmp_path / "x" / "multiarm"

    def nobody():
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", nobody)
    assert jit.cache_root().name.startswith("multiarm-")


def test_everything_runs_without_compilation(copy, tmp_path):
    environment = os.environ | {"PYTHONPATH": str(copy), "NUMBA_DISABLE_JIT": "1"}
    plain = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    expected = run(copy, tmp_path / "kernels").stdout
    assert [float(x) for x in plain.stdout.strip("[]\n").split(",")] == pytest.approx(
        [float(x) for x in expected.strip("[]\n").split(",")], abs=1e-15
    )
