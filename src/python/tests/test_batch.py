"""Copies of a diagram: each bit for bit a run of its own."""

import gc
import resource

import numpy as np
import pytest

import legwork
from test_diagram import CART

FALLING = """Diagram(
    format: 2,
    run: (stop: "1 s", step: "10 ms"),
    params: { "limit": Param(value: 0.5) },
    blocks: { "t": Clock(), "bad": Fcn(expression: "=1/max(0, limit - u/1[s])", constants: { "limit": "=limit" }, in: { "u": "t.y" }) },
)"""


def test_copies_are_runs_of_their_own():
    masses = [1.0, 1.5, 2.0, 2.5, 3.0]
    cart = legwork.parse(CART)
    batch = legwork.Batch(cart, len(masses), signals=["pull.y"])
    batch.set("m", [f"{mass} kg" for mass in masses])
    force, x, v = batch.inputs["force"], batch["x"], batch["v"]
    lone = []
    for mass in masses:
        one = legwork.Batch(cart.with_(set={"m": f"{mass} kg"}), 1, threads=1)
        for _ in range(100):
            one.inputs["force"][:] = 1.0 - one["x"]
            one.step()
        lone.append((one["x"][0], one["v"][0]))
    for _ in range(100):
        force[:] = 1.0 - x
        batch.step()
    assert [(a, b) for a, b in zip(x, v)] == lone
    assert np.array_equal(batch["pull.y"], force * (1 / np.array(masses)))
    assert np.array_equal(batch.t, np.ones(5)) and not batch.ended.any()


def test_a_batch_without_inputs_repeats_the_run():
    stand = legwork.open("demo:stand", until=0.1)
    batch = legwork.Batch(stand, 3, signals=["body.state.base.position"])
    recorded = stand.run()["body.state.base.position"]
    assert batch["body.state.base.position"].shape == (3, 3)
    for row in range(0, 100, 7):
        for copy in range(3):
            assert np.array_equal(batch["body.state.base.position"][copy], recorded[row])
        batch.step(7)
    batch.step(1000)
    assert batch.ended.all() and np.array_equal(batch.t, np.full(3, 0.1))


def test_resets_are_masked():
    batch = legwork.Batch(legwork.parse(CART), 4)
    batch.inputs["force"][:] = [1, 2, 3, 4]
    batch.step(10)
    before = batch["x"].copy()
    batch.reset(np.array([True, False, True, False]))
    assert np.array_equal(batch.t, [0, 0.1, 0, 0.1])
    assert np.array_equal(batch["x"], np.where([True, False, True, False], 0, before))
    assert np.array_equal(batch.inputs["force"], [0, 2, 0, 4])
    batch.step(10)
    batch.reset()
    assert not batch["x"].any()
    with pytest.raises(ValueError, match="mask of 4"):
        batch.reset(np.array([True]))


def test_the_number_of_threads_changes_no_bit():
    def bits(threads):
        batch = legwork.Batch(legwork.open("demo:stand"), 8, threads=threads, signals=["pd.tau"])
        batch.set("pd.kp", list(range(40, 48)))
        batch.step(50)
        return batch["pd.tau"].tobytes()

    assert bits(1) == bits(2) == bits(5)


def test_faults_are_raised_or_held():
    bad = legwork.parse(FALLING)
    batch = legwork.Batch(bad, 3, signals=["bad.y"])
    batch.set("limit", [0.2, 5.0, 0.4])
    with pytest.raises(legwork.Fault, match="copy 0") as caught:
        batch.step(100)
    assert sorted(caught.value.faults) == [0, 2]
    held = legwork.Batch(bad, 3, signals=["bad.y"], on_fault="hold")
    held.set("limit", [0.2, 5.0, 0.4])
    held.step(100)
    assert held.faulted.tolist() == [True, False, True] and held.ended[1]
    held.reset(held.faulted)
    assert not held.faulted.any() and held.faults == {}
    # What nobody reads is not computed, and cannot fault.
    unread = legwork.Batch(bad, 1)
    unread.set("limit", 0.2)
    unread.step(100)
    assert unread.ended.all()


def test_an_input_without_a_value_is_told():
    cart = legwork.parse(CART.replace(", default: 0.0", ""))
    batch = legwork.Batch(cart, 2)
    assert np.isnan(batch.inputs["force"]).all()
    with pytest.raises(legwork.InputError, match="`force` has no value"):
        batch.step()
    batch.inputs["force"][:] = 1.0
    batch.step(10)
    batch.inputs["force"][1] = np.nan
    with pytest.raises(legwork.InputError, match="copy 1"):
        batch.step()


def test_wrong_requests():
    cart = legwork.parse(CART)
    with pytest.raises(ValueError, match="at least one"):
        legwork.Batch(cart, 0)
    with pytest.raises(legwork.RequestError, match="no signal|did you mean|nothing"):
        legwork.Batch(cart, 2, signals=["pul.y"])
    batch = legwork.Batch(cart, 2)
    with pytest.raises(ValueError, match="each of 2"):
        batch.set("m", [1, 2, 3])
    with pytest.raises(legwork.DiagramError):
        batch.set("mass", 3)
    with pytest.raises(ValueError, match="no output `y`"):
        batch["y"]


def test_memory_stays_flat():
    batch = legwork.Batch(legwork.parse(CART), 4)
    cart = legwork.parse(CART, name="short.ron").with_(until="20 ms")

    def work():
        for _ in range(300):
            cart.run()
            batch.reset()
            for _ in range(20):
                batch.step()
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    first = work()
    for _ in range(4):
        last = work()
    assert last - first < 4096, (first, last)
