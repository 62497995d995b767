"""Blocks that are functions of Python."""

import numpy as np
import pytest

import legwork

SUM = """Diagram(
    format: 2,
    run: (stop: "1 s", step: "10 ms"),
    blocks: {
        "t": Clock(),
        "sum": Python(every: "100 ms", function: "%s", in: { "u": "t.y" }),
    },
    log: ["sum.y"],
)"""


def test_state_is_taken_back_and_kept():
    @legwork.block(inputs={"u": "Real"}, outputs={"y": "Real"}, state=[0.0], name="summed")
    def summed(t, x, u):
        assert u == t
        return x[0], x + 1

    diagram = legwork.parse(SUM % "summed")
    assert np.array_equal(diagram.run()["sum.y"], np.arange(11))
    session = diagram.session()
    session.until(0.55)
    snapshot = session.snapshot()
    assert session.read("sum.y") == 5
    session.go_to(0.25)
    assert session.read("sum.y") == 2
    session.restore(snapshot)
    session.step(10)
    assert session.read("sum.y") == 6
    batch = legwork.Batch(diagram, 4, threads=2, signals=["sum.y"])
    batch.step(50)
    assert np.array_equal(batch["sum.y"], np.full(4, 5.0))


def test_ports_have_shapes_and_units():
    @legwork.block(
        inputs={"a": "Matrix(2, 3)", "b": "Bool"},
        outputs={"sum": "Vector(2) [m]", "turned": "Matrix(3, 2)"},
    )
    def shapes(t, a, b):
        assert a.shape == (2, 3) and b is True
        return {"sum": a.sum(axis=1), "turned": a.T}

    diagram = legwork.parse("""Diagram(
        format: 2,
        run: (stop: "10 ms", step: "10 ms"),
        blocks: {
            "a": Constant(value: [[1, 2, 3], [4, 5, 6]]),
            "b": Fcn(expression: "t >= 0"),
            "f": Python(function: "shapes", in: { "a": "a.y", "b": "b.y" }),
        },
        log: ["f.sum", "f.turned"],
    )""")
    run = diagram.run()
    assert run["f.sum"].unit == "m" and np.array_equal(run["f.sum"][0], [6, 15])
    assert np.array_equal(run["f.turned"][0], [[1, 4], [2, 5], [3, 6]])


class Mine(Exception):
    pass


def test_exceptions_come_back_as_they_were():
    @legwork.block(inputs={"u": "Real"}, outputs={"y": "Real"})
    def fails(t, u):
        if t >= 0.3:
            raise Mine("of the block", 7)
        return u

    diagram = legwork.parse(SUM % "fails")
    with pytest.raises(Mine) as caught:
        diagram.run()
    assert caught.value.args == ("of the block", 7)
    assert "sum" in caught.value.__notes__[0]
    assert caught.value.fault["block"] == "sum" and caught.value.fault["t"] == pytest.approx(0.3)
    with pytest.raises(Mine):
        diagram.session().until(1.0)
    with pytest.raises(Mine):
        legwork.Batch(diagram, 2).step(100)


def test_wrong_functions_are_told():
    @legwork.block(inputs={"u": "Real"}, outputs={"y": "Real"})
    def wrong_shape(t, u):
        return [u, u]

    with pytest.raises(ValueError, match=r"'y' of shape \(\), found \(2,\)"):
        legwork.parse(SUM % "wrong_shape").run()
    with pytest.raises(legwork.DiagramError, match="did you mean `wrong_shape`"):
        legwork.parse(SUM % "wrong_shap")
    with pytest.raises(ValueError, match="expected Real, Bool"):
        legwork.block(inputs={"u": "Reel"}, outputs={})(lambda t, u: {})
