"""The command line: what it prints, what it leaves, and how it ends."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from damaged_text import mutate
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import multiarm as ma
from multiarm.cli import app
from multiarm.scenario import scenarios
from multiarm.scenario.scenario import built_in_path

ROOT = Path(__file__).parent.parent
PROGRAM = [sys.executable, "-c", "from multiarm.cli import main; main()"]


def call(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def program(*arguments, cwd, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [*PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, timeout=300, **options)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---------------------------------------------------------------------- list, show, check, new


def test_list_names_every_scenario():
    lines = call("list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == sorted(scenarios())
    assert [entry["name"] for entry in json.loads(call("list", "--json").stdout)["scenarios"]] == sorted(scenarios())


def test_show_draws_the_tree_and_counts():
    text = call("show", "four_bar").stdout
    assert "rocker" in text
    assert "1 at the start (-2 by Kutzbach's count)" in text
    found = json.loads(call("show", "two_pandas_lift", "--json").stdout)
    assert (found["nq"], found["nv"], found["constraint_rows"], found["mobility"]) == (21, 20, 12, 8)
    assert found["cuts"] == ["left", "right"]


def test_show_leaves_a_figure(here):
    call("show", "stewart", "--figure", "topology.svg")
    assert "platform" in (here / "topology.svg").read_text()
    assert "ends in one of" in call("show", "stewart", "--figure", "topology.doc", code=2).stderr


def test_check_looks_along_the_paths():
    text = call("check", "torso_two_arms").stdout
    assert text.splitlines()[-1] == "torso_two_arms: ok"
    assert "of the limit" in text


def test_check_names_file_line_and_choices(here):
    (here / "bad.yaml").write_text("name: bad\narms:\n  left: {robot: pandda}\n")
    result = call("check", "bad.yaml", code=2)
    assert result.stdout == ""
    assert "bad.yaml:3:17: arms.left.robot: no robot 'pandda'; did you mean 'panda'?" in result.stderr
    answer = json.loads(call("check", "bad.yaml", "--json", code=2).stdout)
    assert answer["ok"] is False
    assert (answer["problems"][0]["line"], answer["problems"][0]["choices"][0]) == (3, "panda")


def test_check_names_the_path_that_cannot_be_reached(here):
    text = built_in_path("two_pandas_lift").read_text().replace("xyz: [0, 0, 0.6]}", "xyz: [0, 0, 2.0]}")
    (here / "far.yaml").write_text(text)
    assert "controller.paths: cannot be followed" in call("check", "far.yaml", code=2).stderr


def test_misspelled_names_are_suggested():
    assert "did you mean 'two_pandas_lift'?" in call("show", "two_panda_lift", code=2).stderr


@pytest.mark.parametrize("source", [None, "four_bar", "free_flyer_catch"])
def test_new_writes_a_file_that_checks(here, source):
    call("new", "mine.yaml", *([] if source is None else ["--from", source]))
    answer = json.loads(call("check", "mine.yaml", "--json").stdout)
    assert (answer["ok"], answer["name"]) == (True, "mine")


def test_new_does_not_overwrite(here):
    (here / "mine.yaml").write_text("precious")
    assert "--force" in call("new", "mine.yaml", code=2).stderr
    assert (here / "mine.yaml").read_text() == "precious"
    call("new", "mine.yaml", "--force", "--from", "stewart")
    assert "platform" in (here / "mine.yaml").read_text()
    assert "did you mean 'stewart'" in call("new", "other.yaml", "--from", "steward", code=2).stderr
    assert ".yaml or .yml" in call("new", "mine.txt", code=2).stderr


def test_wrong_usage_is_code_2_and_help_names_the_codes():
    for arguments in (["lst"], ["run"], ["run", "four_bar", "--dt", "soon"], ["show"]):
        assert CliRunner().invoke(app, arguments).exit_code == 2
    assert "130 interrupted" in " ".join(call("--help").stdout.split())
    assert call("--version").stdout.strip() == ma.__version__


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damaged_files_never_end_in_a_traceback(tmp_path, data):
    path = tmp_path / "damaged.yaml"
    path.write_text(mutate(data, built_in_path("four_bar").read_text()), encoding="utf-8")
    result = CliRunner().invoke(app, ["check", str(path)])
    assert result.exit_code in (0, 2)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert result.exit_code == 0 or result.stderr.startswith("error: ")


def test_debug_shows_the_traceback():
    assert "Traceback" in call("--debug", "show", "nothing", code=2).stderr
    assert "Traceback" not in call("show", "nothing", code=2).stderr


# ---------------------------------------------------------------------- run, plot, export


def test_run_leaves_result_and_figure_and_a_closing_table(here):
    text = call("run", "two_pandas_lift", "--duration", "0.2").stdout
    for label in ("tracking error of box", "peak torque of left", "load share of right", "internal force of left",
                  "energy balance", "closure error", "events", "speed"):  # fmt: skip
        assert label in text
    assert sorted(path.name for path in here.iterdir()) == ["two_pandas_lift.nc", "two_pandas_lift.png"]
    with ma.load_trajectory("two_pandas_lift.nc") as trajectory:
        assert trajectory.time[-1] == pytest.approx(0.2)
        assert "name: two_pandas_lift" in trajectory.dataset.attrs["scenario"]


def test_run_prints_one_json_object(here):
    result = call("run", "four_bar", "--duration", "0.05", "--dt", "5e-4", "--method", "euler", "--json", "--no-figure")
    answer = json.loads(result.stdout)
    assert (answer["ok"], answer["steps"], answer["files"]) == (True, 100, ["four_bar.nc"])
    assert answer["closure"] < 1e-9
    assert result.stderr == ""


def test_run_quiet_prints_nothing(here):
    result = call("run", "four_bar", "--duration", "0.01", "--quiet", "--output", "deep/down")
    assert (result.stdout, result.stderr) == ("", "")
    assert (here / "deep" / "down" / "four_bar.nc").exists()


def test_run_writes_csv_where_the_scenario_says_so(here):
    text = built_in_path("four_bar").read_text() + "outputs: {csv: true, figure: false}\n"
    (here / "mine.yaml").write_text(text)
    call("run", "mine.yaml", "--duration", "0.01")
    assert sorted(path.suffix for path in here.iterdir()) == [".csv", ".nc", ".yaml"]


def test_plot_and_export_need_only_the_result(here):
    call("run", "four_bar", "--duration", "0.05", "--quiet", "--no-figure")
    call("plot", "four_bar.nc", "--output", "picture.pdf")
    assert (here / "picture.pdf").stat().st_size > 1000
    call("export", "four_bar.nc", "--csv", "table.csv", "--channel", "q")
    rows = (here / "table.csv").read_text().splitlines()
    assert rows[0] == "time [s],q a [rad],q b [rad],q d [rad]"
    with ma.load_trajectory("four_bar.nc") as trajectory:
        table = np.array([row.split(",") for row in rows[1:]], float)
        assert np.array_equal(table[:, 1:], trajectory.q)
    assert "did you mean 'closure_error'" in call("export", "four_bar.nc", "-c", "closure_eror", code=2).stderr


def test_results_that_are_not_there_or_broken_are_code_3(here):
    assert "no such file" in call("plot", "nothing.nc", code=3).stderr
    (here / "broken.nc").write_text("not a result")
    for command in ("plot", "export"):
        assert "not a NetCDF-4 file" in call(command, "broken.nc", code=3).stderr


def test_a_run_that_an_event_stops_is_code_1(here):
    text = (
        built_in_path("three_arms_plate").read_text().replace("torsional: 0.02", "torsional: 0.02\n    on_slip: stop")
    )
    (here / "slip.yaml").write_text(text.replace("friction: 0.6", "friction: 0.01"))
    result = call("run", "slip.yaml", code=1)
    assert "slip of 'chain'" in result.stderr
    assert "slip chain: friction limit reached" in result.stdout
    with ma.load_trajectory("three_arms_plate.nc") as trajectory:
        assert trajectory.time[-1] < 5.0
        assert trajectory.events[-1].kind == "stop"
    answer = json.loads(call("run", "slip.yaml", "--json", code=1).stdout)
    assert answer["ok"] is False


def test_a_run_that_fails_is_code_1_and_keeps_its_samples(here):
    text = built_in_path("free_flyer_catch").read_text().replace("time: 2.0", "time: 0.1")
    (here / "miss.yaml").write_text(text)
    result = call("run", "miss.yaml", code=1)
    assert "cannot take hold" in result.stderr
    assert "t = 0.1 s" in result.stderr
    with ma.load_trajectory("free_flyer_catch.nc") as trajectory:
        assert trajectory.time[-1] == pytest.approx(0.1)


def test_settings_that_do_not_fit_name_the_section(here):
    (here / "bad.yaml").write_text(
        built_in_path("four_bar").read_text().replace("method: rk4", "sample_period: 1.5e-3")
    )
    error = call("run", "bad.yaml", code=2).stderr
    assert "bad.yaml:" in error
    assert "multiple" in error


# ---------------------------------------------------------------------- as a program


def test_a_pipe_gets_plain_text(here):
    done = program("run", "four_bar", "--duration", "0.02", cwd=here)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert "closure error" in done.stdout
    assert "Traceback" not in done.stderr
    done = program("check", "no_such_thing", cwd=here)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


def test_an_interrupted_run_is_code_130_and_goes_on_where_it_was(here):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [*PROGRAM, "run", "stewart", "--duration", "20", "--quiet", "--no-figure"]
    running = subprocess.Popen(command, cwd=here, env=environment, stderr=subprocess.PIPE, text=True)
    segments = here / "stewart.segments"
    deadline = time.monotonic() + 120
    while not list(segments.glob("*checkpoint*")):
        assert running.poll() is None, running.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=120)
    assert running.returncode == 130, said
    assert "--resume" in said
    with ma.load_trajectory(here / "stewart.nc") as part:
        reached = part.time[-1]
        assert 0.0 < reached < 20.0
    again = program("run", "stewart", "--duration", "20", "--quiet", "--no-figure", cwd=here)
    assert again.returncode == 2
    assert "--restart" in again.stderr
    done = program("run", "stewart", "--duration", "20", "--quiet", "--no-figure", "--resume", cwd=here)
    assert done.returncode == 0, done.stderr
    assert not segments.exists()
    with ma.load_trajectory(here / "stewart.nc") as whole:
        assert whole.time[-1] == pytest.approx(20.0)
        assert np.all(np.diff(whole.time) > 0.0)
        assert len(whole) == 20_001


def test_resume_needs_a_run_to_go_on_with(here):
    assert "no unfinished run" in call("run", "four_bar", "--resume", code=2).stderr


def test_the_package_is_quick_to_import():
    lines = ("import multiarm, sys", "assert 'pydantic' not in sys.modules", "multiarm.scenarios",
             "print('pydantic' in sys.modules)")  # fmt: skip
    command = [sys.executable, "-c", "\n".join(lines)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "True"
