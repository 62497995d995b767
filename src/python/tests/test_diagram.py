"""Opening, running, comparing: the same bits as the command's, errors as exceptions."""

import copy
import json
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import legwork

CART = """Diagram(
    format: 2,
    doc: "A cart that is pushed.",
    run: (stop: "2 s", step: "10 ms"),
    params: { "m": Param(value: "2 kg") },
    ports: (
        in: { "force": Port(type: "Real", unit: "N", default: 0.0, doc: "on the cart") },
        out: { "x": Port(type: "Real", unit: "m"), "v": Port(type: "Real", unit: "m/s") },
    ),
    blocks: {
        "pull": Gain(gain: "=1/m", in: { "u": "^force" }),
        "body": SecondOrderIntegrator(in: { "u": "pull.y" }),
    },
    out: { "x": "body.position", "v": "body.velocity" },
    log: ["body.position", "body.velocity"],
)"""


def command(*words, check=True):
    """Runs the command."""
    line = [sys.executable, "-m", "legwork", *map(str, words)]
    return subprocess.run(line, check=check, capture_output=True, text=True)


@pytest.fixture(scope="module")
def stand():
    return legwork.open("demo:stand", until=0.2)


@pytest.fixture(scope="module")
def recording(stand):
    return stand.run()


def test_bits_are_those_of_the_command(stand, recording, tmp_path):
    command("run", "demo:stand", "--until", "0.2 s", "--no-checks", "--out", tmp_path / "run")
    theirs = legwork.load(tmp_path / "run")
    assert theirs.keys() == recording.keys()
    for path in theirs.keys():
        ours, other = recording[path], theirs[path]
        assert ours.tobytes() == other.tobytes(), path
        assert np.array_equal(ours.t, other.t)
        assert (ours.unit, ours.names) == (other.unit, other.names)
    ours = stand.run(out=tmp_path / "ours")
    assert ours.file == tmp_path / "ours" / "run.mcap"
    files = [tmp_path / folder / "run.mcap" for folder in ("run", "ours")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_signals_know_times_units_and_names(recording):
    position = recording["body.state.base.position"]
    assert isinstance(position, np.ndarray) and isinstance(position, legwork.Signal)
    assert position.shape == (201, 3)
    assert position.unit == "m" and position.names == ["x", "y", "z"]
    assert np.allclose(position.t, np.arange(201) * 1e-3, atol=1e-12)
    height = position[:, 2]
    assert height.names == ["z"] and len(height.t) == 201
    assert len(position[10:20].t) == 10
    assert type(position * 2) is np.ndarray and isinstance(position.max(), float)
    bus = recording["body.state.base"]
    assert set(bus) == {
        f"body.state.base.{part}"
        for part in ("position", "orientation", "velocity", "angular_velocity")
    }
    assert recording["body.state.base.position[2]"].tobytes() == height.tobytes()
    assert "pd.tau" in recording and "nothing" not in recording
    with pytest.raises(KeyError, match="did you mean"):
        recording["body.stat"]


def test_overrides_are_those_of_the_language():
    cart = legwork.parse(CART)
    assert cart.doc == "A cart that is pushed."
    assert cart.inputs["force"] == {
        "type": "Real", "unit": "N", "size": 1, "default": [0.0], "doc": "on the cart",
    }
    assert cart.outputs["v"]["unit"] == "m/s"
    pushed = cart.with_(set={"m": "500 g"}, inputs={"force": "3 N"}, until="1 s")
    v = pushed.run()["body.velocity"]
    # F t / m
    assert abs(v[-1] - 6.0) < 1e-12 and v.t[-1] == 1.0
    assert cart.with_(set={"m": "2 kg"}).hash == cart.hash
    assert cart.with_(inputs={"force": 3.0}).hash == cart.with_(inputs={"force": "3 N"}).hash
    stand = legwork.open("demo:stand")
    assert stand.with_(set={"pd.kp": np.float64(80)}).hash == stand.with_(set={"pd.kp": 80.0}).hash
    assert stand.with_(set={"pd.kp": 80.5}).hash != stand.hash
    with pytest.raises(TypeError, match="expected a number"):
        cart.with_(set={"m": object()})


def test_mistakes_come_with_their_place():
    with pytest.raises(legwork.DiagramError, match="did you mean `Gain`") as caught:
        legwork.parse(CART.replace("Gain(", "Gein("), name="cart.ron")
    (found,) = caught.value.diagnostics
    assert found["primary"]["file"] == "cart.ron" and found["severity"] == "error"
    assert found["primary"]["line"] == 11
    assert isinstance(caught.value, legwork.Error)
    with pytest.raises(legwork.RequestError, match="did you mean `demo:stand`"):
        legwork.open("demo:stan")
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.diagnostics == caught.value.diagnostics and str(again) == str(caught.value)


def test_a_fault_says_where_and_keeps_what_was_recorded():
    bad = legwork.parse("""Diagram(
        format: 2,
        run: (stop: "1 s", step: "10 ms"),
        blocks: { "t": Clock(), "bad": Fcn(expression: "=1/(u - 0.5[s])", in: { "u": "t.y" }) },
        log: ["t.y", "bad.y"],
    )""")
    with pytest.raises(legwork.Fault) as caught:
        bad.run()
    assert caught.value.fault["block"] == "bad" and caught.value.fault["t"] == 0.5
    assert caught.value.recording["t.y"].t[-1] == pytest.approx(0.49)
    recording = bad.run(raise_on_fault=False)
    assert recording.summary["outcome"] == "fault"


def test_checks_and_metrics(stand, recording):
    assert recording.summary["checks"]["stays up"] is True
    assert recording.summary["metrics"]["worst_penetration"] < 1e-3
    with pytest.raises(legwork.Error, match="comes to rest"):
        stand.run(check=True)
    assert legwork.check("demo:stand") == [] or all(
        found["severity"] != "error" for found in legwork.check("demo:stand")
    )


def test_variants_are_compared():
    stand = legwork.open("demo:stand", until="0.2 s")
    found = stand.compare({"qp": ["active_set", "clarabel"]})
    assert found["agrees"] is True
    one, other = (stand.with_(variant={"qp": qp}).run() for qp in ("active_set", "pgs"))
    assert legwork.compare([one, one], tolerances=["0"])["agrees"]
    assert not legwork.compare([one, other], tolerances=["0"])["agrees"]


def test_a_sweep_is_a_table_of_single_runs(tmp_path):
    cart = legwork.parse(CART, name=str(tmp_path / "cart.ron"))
    table = cart.sweep(
        {"m": ["1 kg", "2 kg", "4 kg"], "inputs.force": ["1 N", "2 N"]}, show=["body.velocity"]
    )
    assert list(table["m"]) == [1.0, 1.0, 2.0, 2.0, 4.0, 4.0]
    assert table["status"] == ["ok"] * 6
    (column,) = [name for name in table if name.startswith("body.velocity")]
    assert np.allclose(table[column], [2.0, 4.0, 1.0, 2.0, 0.5, 1.0], atol=1e-12)
    single = cart.with_(set={"m": "4 kg", "inputs.force": "2 N"}).run()["body.velocity"]
    assert table[column][-1] == single[-1]
    assert table.units["sim_time"] == "s"
    assert "<table>" in table._repr_html_()
    again = pickle.loads(pickle.dumps(table))
    assert again.units == table.units and np.array_equal(again[column], table[column])


def test_a_linearised_diagram_has_matrices_and_names():
    found = legwork.open("help:linear").linearize()
    assert np.allclose(found["A"], [[0, 1], [-9, -1.2]], atol=1e-10)
    assert found["B"].shape == (2, 1) and found["D"].shape == (1, 1)
    assert [state["name"] for state in found["states"]] == ["mass.position", "mass.velocity"]
    assert np.isclose(found["poles"][0]["damping"], 0.2)
    none = legwork.open("help:linear").linearize(0.5, outputs=["mass.velocity"], every="10 ms")
    assert none["period_s"] == 0.01 and np.allclose(none["C"], [[0, 1]])
    with pytest.raises(legwork.RequestError):
        legwork.open("help:linear").linearize(inputs=["net.x"])


def test_a_trimmed_diagram_holds_still():
    trim = legwork.open("demo:stand").trim()
    assert "patch" in trim and trim["patch"]


def test_everything_is_pickled(stand, recording):
    again = pickle.loads(pickle.dumps(stand))
    assert (again.name, again.hash) == (stand.name, stand.hash)
    other = pickle.loads(pickle.dumps(recording))
    assert other.to_bytes() == recording.to_bytes() and other.summary == recording.summary
    signal = pickle.loads(pickle.dumps(recording["pd.tau"]))
    assert signal.unit == "N*m" and signal.tobytes() == recording["pd.tau"].tobytes()
    cart = legwork.parse(CART).with_(set={"m": "3 kg"}, inputs={"force": "1 N"}, until="30 ms")
    assert copy.deepcopy(cart).hash == cart.hash


def _bits(diagram):
    return diagram.run()["body.state.base.position"].tobytes()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_and_threads_give_the_same_bits(stand, method):
    here = _bits(stand)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(_bits, [stand] * 3) == [here] * 3
    found = []
    threads = [threading.Thread(target=lambda: found.append(_bits(stand))) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert found == [here] * 4


def test_the_interpreter_runs_while_a_diagram_does():
    long = legwork.open("demo:stand", until="2 s")
    counted, is_done = [0], threading.Event()

    def count():
        while not is_done.is_set():
            counted[0] += 1
            time.sleep(1e-3)

    thread = threading.Thread(target=count)
    thread.start()
    long.run()
    is_done.set()
    thread.join()
    assert counted[0] > 3


def test_progress_is_told(stand):
    told = []
    stand.with_(until="1 s").run(progress=lambda t, stop: told.append((t, stop)))
    assert told[-1] == (1.0, 1.0) and [t for t, _ in told] == sorted(t for t, _ in told)

    def fails(t, stop):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        stand.run(progress=fails)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_ends_a_run():
    script = (
        "import legwork\n"
        "d = legwork.open('demo:stand', until='100000 s', signals=['pd.tau[0]'])\n"
        "print('begun', flush=True)\n"
        "try:\n    d.run()\nexcept KeyboardInterrupt:\n    print('ended')\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert out == "ended\n" and process.returncode == 0


def test_the_command_is_whole():
    found = json.loads(command("check", "demo:stand", "--json").stdout)
    assert found
    assert command("--version").stdout.split()[1] == legwork.__version__
    wrong = command("run", "demo:stan", check=False)
    assert wrong.returncode == 64 and "did you mean" in wrong.stderr


def test_drawings(stand):
    svg = stand._repr_svg_()
    assert svg.startswith("<svg") and "pd" in svg
    assert pathlib.Path(legwork.__file__).with_name("py.typed").exists()
