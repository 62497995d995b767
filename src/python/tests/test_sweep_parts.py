"""Parts of a sweep that run elsewhere make the table of the whole."""

import os
import pathlib
import signal
import sys

import numpy as np
import pytest

import legwork

DECAY = """Diagram(
    format: 2,
    run: (stop: "1 s", step: "1 ms"),
    params: { "k": Param(value: "1 Hz"), "x0": Param(value: 1.0) },
    blocks: {
        "x":    Integrator(initial: "=x0", in: { "u": "rate.y" }),
        "rate": Fcn(expression: "=-k*u", constants: { "k": "=k" }, in: { "u": "x.y" }),
    },
    checks: { "decays": Finally(that: "=x.y < 0.5*x0") },
)"""
OVER = {"k": [f"{0.5 * i} Hz" for i in range(1, 6)], "x0": [1.0, 2.0]}
SHOW = ["x.y", "x.y:rms"]
#: What a clock says.
TIMES = {"wall", "real_time_factor"}


@pytest.fixture(scope="module")
def decay():
    return legwork.parse(DECAY)


def same(table, whole):
    assert list(table) == list(whole) and table.units == whole.units
    for name in set(whole) - TIMES:
        if isinstance(whole[name], np.ndarray):
            assert np.array_equal(table[name], whole[name], equal_nan=True), name
        else:
            assert table[name] == whole[name], name


def test_shards_and_rows_make_the_whole(decay, tmp_path):
    whole = decay.sweep(OVER, show=SHOW)
    assert whole["status"].count("check failed") == 2, whole["status"]
    parts = [str(tmp_path / f"part{i}") for i in (1, 2, 3)]
    shards = [
        decay.sweep(OVER, show=SHOW, shard=f"{i}/3", out=part) for i, part in enumerate(parts, 1)
    ]
    assert [len(shard["k"]) for shard in shards] == [4, 3, 3]
    same(decay.sweep(OVER, show=SHOW, merge=parts), whole)
    axes = [(name, [str(value) for value in values]) for name, values in OVER.items()]
    rows = [decay._rows(axes, SHOW, first, first + 5) for first in (0, 5)]
    same(decay.sweep(OVER, show=SHOW, merge=[parts[0], *rows]), whole)
    # What is missing runs here.
    same(decay.sweep(OVER, show=SHOW, merge=rows[:1]), whole)


def test_rows_of_another_sweep_are_refused(decay):
    axes = [(name, [str(value) for value in values]) for name, values in OVER.items()]
    rows = decay._rows(axes, SHOW, 0, 3)
    for other in (
        lambda: decay.sweep(OVER, show=["x.y"], merge=[rows]),
        lambda: decay.with_(until="0.5 s").sweep(OVER, show=SHOW, merge=[rows]),
        lambda: decay.sweep({"x0": [1.0]}, show=SHOW, merge=[rows]),
        lambda: decay.sweep(OVER, show=SHOW, merge=[b"no rows"]),
    ):
        with pytest.raises(legwork.RequestError, match="another diagram or of other axes"):
            other()
    with pytest.raises(legwork.RequestError, match="part of a sweep, or parts to merge"):
        decay.sweep(OVER, show=SHOW, shard="1/2", merge=[rows])
    with pytest.raises(ValueError, match="I/N"):
        decay.sweep(OVER, shard="3/2")
    with pytest.raises(ValueError, match="no backend `rey`; did you mean `ray`"):
        decay.sweep(OVER, backend="rey")


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


def test_a_cluster_has_to_be_there(decay):
    ray = pytest.importorskip("ray")
    if ray.is_initialized():
        pytest.skip("there is one")
    with pytest.raises(legwork.RequestError, match="connect to a cluster first"):
        decay.sweep(OVER, backend="ray")


def test_a_cluster_gives_the_table_of_one_machine(decay, ray):
    over = {"k": [f"{0.1 * i} Hz" for i in range(1, 21)], "x0": [float(i) for i in range(1, 11)]}
    told = []
    table = decay.sweep(over, show=SHOW, backend="ray", progress=lambda *at: told.append(at))
    same(table, decay.sweep(over, show=SHOW))
    assert len(table["k"]) == 200 and told[-1] == (200, 200)


def workers():
    """Processes of this machine that run a task of Ray."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if words.startswith(b"ray::"):
            yield int(folder.name), words


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_a_killed_worker_loses_nothing(decay, ray):
    slow = decay.with_(until="60 s")
    over = {"k": [f"{0.1 * i} Hz" for i in range(1, 21)], "x0": [1.0, 2.0]}
    killed = []

    def kill_one(done, whole):
        busy = [pid for pid, words in workers() if b"_run" in words]
        if 0 < done < whole and not killed and busy:
            os.kill(busy[0], signal.SIGKILL)
            killed.append(busy[0])

    same(slow.sweep(over, show=SHOW, backend="ray", progress=kill_one), slow.sweep(over, show=SHOW))
    assert killed


def test_a_sweep_goes_on_from_what_is_kept(decay, ray, tmp_path):
    whole = decay.sweep(OVER, show=SHOW)

    def stop(done, count):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        decay.sweep(OVER, show=SHOW, backend="ray", out=tmp_path, progress=stop)
    kept = {file.name for file in (tmp_path / "parts").glob("*.rows")}
    assert kept
    told = []
    progress = lambda *at: told.append(at)
    again = decay.sweep(
        OVER, show=SHOW, backend="ray", out=tmp_path, resume=True, progress=progress
    )
    same(again, whole)
    assert kept <= {file.name for file in (tmp_path / "parts").glob("*.rows")}
    with pytest.raises(legwork.RequestError, match="another diagram or of other axes"):
        other = decay.with_(until="0.5 s")
        other.sweep(OVER, show=SHOW, backend="ray", out=tmp_path, resume=True)
