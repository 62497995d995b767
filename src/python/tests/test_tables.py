"""Signals in other libraries' types."""

import numpy as np
import pytest

import legwork


@pytest.fixture(scope="module")
def tau():
    return legwork.open("demo:stand", until="20 ms").run()["pd.tau"]


def test_pandas(tau):
    pytest.importorskip("pandas")
    frame = tau.to_pandas()
    assert frame.index.name == "t" and frame.shape == (21, 12)
    assert list(frame.columns) == tau.names
    assert np.array_equal(frame.to_numpy(), tau)


def test_polars(tau):
    pytest.importorskip("polars")
    frame = tau.to_polars()
    assert frame.columns == ["t", *tau.names] and frame.shape == (21, 13)


def test_xarray(tau):
    pytest.importorskip("xarray")
    array = tau.to_xarray()
    assert array.attrs == {"units": "N*m"} and array.dims == ("t", "element")


def test_matplotlib(tau):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = tau.plot()
    assert axes.get_ylabel() == "pd.tau [N*m]" and len(axes.lines) == 12
