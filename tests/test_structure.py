"""How the packages may depend on each other, and what importing them may load."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAY_IMPORT = {"graphs": {"graphs"}, "contacts": {"contacts", "graphs"}, "multiarm": {"multiarm", "graphs", "contacts"}}

# the stages of multiarm in the order data flows; a module imports only from its own stage or earlier ones
STAGES = (
    {"version", "errors", "poses"},
    {"description", "wrench"},
    {"sweeps"},
    {"joints", "checks", "arms", "robots", "urdf_document", "urdf", "mjcf_document", "mjcf_equality", "mjcf"},
    {"state", "mechanism", "model", "display", "compilation"},
    {"workspace", "kernels", "cut_rows", "loop_tables", "paths"},
    {"joint_forces", "kinematics", "reactions", "grasp_motion"},
    {"operators", "solution", "energy", "forces", "dynamics", "filtering", "laws", "prepared", "elements", "slip"},
    {"manifold", "load", "constraints", "cut_coordinates", "determinacy", "solvers"},
    {"closed_chain", "closed_chain_inverse", "assembly", "mobility", "controllers"},
    {"trajectory"},
    {"simulation"},
    {"scenario"},
    {"cli", "__main__"},
)


def imported_at_load(path: Path) -> set[str]:
    """Modules that a file imports when it is loaded, those for type checkers left out."""
    found = set()
    nodes = list(ast.parse(path.read_text()).body)
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.dump(node.test):
            nodes += node.body + node.orelse
    return found


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_point_one_way(package):
    for path in (ROOT / package).rglob("*.py"):
        ours = {name.split(".")[0] for name in imported_at_load(path)} & set(MAY_IMPORT)
        assert ours <= MAY_IMPORT[package], path


def test_multiarm_imports_point_from_later_stages_to_earlier_ones():
    stage = {module: i for i, modules in enumerate(STAGES) for module in modules}
    for path in (ROOT / "multiarm").rglob("*.py"):
        own = path.relative_to(ROOT / "multiarm").with_suffix("").parts[0]
        if own == "__init__":
            continue
        assert own in stage, f"{path} belongs to no stage"
        for name in imported_at_load(path):
            parts = name.split(".")
            if parts[0] == "multiarm" and len(parts) > 1 and parts[1] in stage:
                assert stage[parts[1]] <= stage[own], f"{path} imports {name}"


def test_kernels_know_nothing_of_models():
    for path in (ROOT / "multiarm" / "sweeps").glob("*.py"):
        ours = {name for name in imported_at_load(path) if name.startswith("multiarm")}
        assert all(name.startswith("multiarm.sweeps") for name in ours), path


def test_import_loads_nothing_heavy_that_may_not_be_used():
    program = "import sys, multiarm, graphs, contacts; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    heavy = {"cvxpy", "matplotlib", "yourdfpy", "viser", "xarray", "h5py", "trimesh", "pinocchio", "mujoco"}
    heavy |= {"pydantic", "typer", "rich"}
    assert not heavy & set(loaded.split())


def test_files_hold_one_concept():
    long = {path: n for path in ROOT.glob("[mgc]*/**/*.py") if (n := len(path.read_text().splitlines())) > 420}
    assert not long
