"""Blocks that are functions of Python."""

from __future__ import annotations

import re

import numpy as np

from . import _legwork

_PORT = re.compile(
    r"\s*(?:(?P<plain>Real|Bool)|Vector\(\s*(?P<n>\d+)\s*\)|"
    r"Matrix\(\s*(?P<rows>\d+)\s*,\s*(?P<columns>\d+)\s*\))\s*(?:\[(?P<unit>[^\]]*)\])?\s*"
)


def _port(name, text):
    found = _PORT.fullmatch(text)
    if not found:
        raise ValueError(
            f"port {name!r}: expected Real, Bool, Vector(n) or Matrix(rows, columns), and a unit "
            f'in brackets if it has one, as in "Vector(3) [m]"; found {text!r}'
        )
    if found["plain"]:
        shape = (0, 0)
    elif found["n"]:
        shape = (int(found["n"]), 1)
    else:
        shape = (int(found["rows"]), int(found["columns"]))
    return name, shape, found["plain"] == "Bool", found["unit"]


def block(function=None, /, *, inputs, outputs, state=None, name=None):
    """Make a function a block for prototypes: ``Python(function: "NAME")`` in a diagram.

    ``inputs`` and ``outputs`` are ports by name, each a type and perhaps a unit: ``"Real [N]"``,
    ``"Bool"``, ``"Vector(3)"``, ``"Matrix(2, 3)"``. The function is called with the time and the
    inputs by name, as numbers and arrays, and gives the output, or a dictionary of several. With
    ``state``, numbers at t = 0, it is called with the time, the state and the inputs, and gives
    outputs and the next state; ``every`` in the diagram says its period.

    The name is that of the function without another. It is known in this process: another that
    runs the diagram imports what registers it.

    >>> import legwork
    >>> @legwork.block(inputs={"x": "Real"}, outputs={"u": "Real"})
    ... def spring(t, x):
    ...     return -4 * x
    >>> rec = legwork.parse('''Diagram(
    ...     format: 2,
    ...     run: (stop: "1 s", step: "1 ms", solver: Rk4),
    ...     blocks: {
    ...         "spring": Python(function: "spring", in: { "x": "body.position" }),
    ...         "body": SecondOrderIntegrator(position: 1.0, in: { "u": "spring.u" }),
    ...     },
    ...     log: ["body.position"],
    ... )''').run()
    >>> import math
    >>> bool(abs(rec["body.position"][-1] - math.cos(2)) < 1e-9)
    True
    """
    if function is None:
        return lambda later: block(later, inputs=inputs, outputs=outputs, state=state, name=name)
    ins = [_port(*port) for port in inputs.items()]
    outs = [_port(*port) for port in outputs.items()]
    begin = np.atleast_1d(np.asarray([] if state is None else state, float)).ravel()
    called = name or function.__name__

    def given(port, numbers):
        _, (rows, columns), is_bool, _ = port
        if rows == 0:
            return bool(numbers[0]) if is_bool else float(numbers[0])
        return numbers if columns == 1 else numbers.reshape((rows, columns), order="F")

    def flat(port, value):
        name, (rows, columns), _, _ = port
        numbers = np.asarray(value, float)
        shape = () if rows == 0 else (rows,) if columns == 1 else (rows, columns)
        if numbers.shape != shape:
            raise ValueError(
                f"block {called!r}: expected the output {name!r} of shape {shape}, found {numbers.shape}"
            )
        return numbers.ravel(order="F").tolist()

    def call(t, x, numbers):
        values = {port[0]: given(port, one) for port, one in zip(ins, numbers)}
        found, after = function(t, **values) if state is None else function(t, x, **values), x
        if state is not None:
            found, after = found
            after = np.atleast_1d(np.asarray(after, float)).ravel()
            if after.shape != begin.shape:
                raise ValueError(
                    f"block {called!r}: expected a next state of {len(begin)} numbers, "
                    f"found {len(after)}"
                )
        if len(outs) == 1 and not isinstance(found, dict):
            found = {outs[0][0]: found}
        missing = [port[0] for port in outs if port[0] not in found]
        unknown = [name for name in found if name not in outputs]
        if missing or unknown:
            raise ValueError(
                f"block {called!r}: expected the outputs {list(outputs)}, found {list(found)}"
            )
        return [flat(port, found[port[0]]) for port in outs], after.tolist()

    _legwork._register_block(called, call, ins, outs, begin.tolist())
    return function
