"""Forth and back, edits, forks, breakpoints: the same bits as a run that never stopped."""

import threading

import numpy as np
import pytest

import legwork

POSITION = "body.state.base.position"


@pytest.fixture
def session():
    return legwork.open("demo:stand").session()


def test_forth_and_back_repeat_the_run(session):
    session.step(100)
    there = session.read(POSITION).copy()
    session.step(50)
    later = session.read(POSITION).copy()
    session.back(50)
    assert session.t == pytest.approx(0.1) and np.array_equal(session.read(POSITION), there)
    session.until(0.15)
    assert np.array_equal(session.read(POSITION), later)
    session.go_to(0.1)
    assert np.array_equal(session.read(POSITION), there)
    assert session.read(POSITION).unit == "m"


def test_a_run_with_the_edits_repeats_the_session(session):
    session.until(0.05)
    session.set("pd.kp", 80)
    session.until(0.1)
    session.step(1)
    edits = session.edits
    assert [(path, value) for _, path, value in edits] == [("pd.kp", "80")]
    run = legwork.open("demo:stand", until=0.15).run(edits=edits)
    row = np.flatnonzero(run["pd.tau"].t == 0.1)[0]
    assert np.array_equal(run["pd.tau"][row], session.read("pd.tau"))


def test_forks_go_their_own_way(session):
    session.until(0.2)
    same, other = session.fork(), session.fork({"qp": "clarabel", "pd.kp": 40})
    session.step(50), same.step(50), other.step(50)
    assert np.array_equal(session.read(POSITION), same.read(POSITION))
    assert not np.array_equal(session.read(POSITION), other.read(POSITION))


def test_snapshots_go_on_bit_for_bit(session):
    session.until(0.1)
    snapshot = session.snapshot()
    session.step(20)
    again = legwork.open("demo:stand").session(snapshot)
    again.step(20)
    assert again.t == session.t and np.array_equal(again.read(POSITION), session.read(POSITION))
    session.restore(snapshot)
    assert session.t == pytest.approx(0.1)
    with pytest.raises(legwork.RequestError):
        session.restore(snapshot[:-1])
    with pytest.raises(legwork.RequestError):
        legwork.open("demo:bouncing_ball").session(snapshot)


def test_breakpoints(session):
    number = session.break_at("body.state.base.position[2] < 0.3")
    stop = session.proceed()
    assert stop["halt"] == {
        "kind": "breakpoint", "number": number, "text": "body.state.base.position[2] < 0.3",
    }
    assert session.read("body.state.base.position[2]") < 0.3
    session.delete_breakpoint()
    seen = []

    def is_late(t, values):
        seen.append(values["pd.tau"])
        return t > 0.3

    session.break_at(is_late, signals=["pd.tau"])
    session.proceed()
    assert session.t > 0.3 and seen[0].shape == (12,)


def test_an_exception_of_a_breakpoint_comes_back_as_it_was(session):
    class Mine(Exception):
        pass

    def fails(t, values):
        raise Mine(t)

    session.break_at(fails)
    with pytest.raises(Mine):
        session.proceed()


def test_a_breakpoint_cannot_use_its_session(session):
    session.break_at(lambda t, values: session.t > 1)
    with pytest.raises(RuntimeError, match="in use"):
        session.proceed()


def test_one_thread_at_a_time(session):
    begun, go_on = threading.Event(), threading.Event()

    def waits(t, values):
        begun.set()
        go_on.wait(10)
        return True

    session.break_at(waits)
    thread = threading.Thread(target=session.proceed)
    thread.start()
    assert begun.wait(10)
    with pytest.raises(RuntimeError, match="in use"):
        session.step(1)
    go_on.set()
    thread.join()
    session.delete_breakpoint()
    session.step(1)


def test_inputs_and_blocks():
    cart = legwork.parse("""Diagram(
        format: 2,
        run: (stop: "1 s", step: "10 ms"),
        ports: (in: { "u": Port(type: "Real", unit: "m/s", default: "1 m/s") }, out: { "x": "Real" }),
        blocks: { "sum": Integrator(initial: 0.0, in: { "u": "^u" }) },
        out: { "x": "sum.y" },
    )""").session()
    cart.until(0.5)
    cart.write("u", 3)
    with pytest.raises(legwork.RequestError, match="no input"):
        cart.write("w", 1)
    cart.proceed()
    assert cart.read("x") == pytest.approx(2.0, abs=1e-12)
    assert cart.block("sum")["continuous"] == [cart.read("x")]
    assert cart.block("none") is None
    assert cart.ended and cart.t == 1.0
    with pytest.raises(legwork.RequestError, match="has ended"):
        cart.step()
