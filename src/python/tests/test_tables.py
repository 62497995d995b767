"""Signals in other libraries' types."""

import sys
from xml.etree import ElementTree

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


def test_a_plot_without_matplotlib(tau, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    picture = tau.plot()
    svg = ElementTree.fromstring(picture._repr_svg_())
    words = [text.text for text in svg.iter() if text.tag.endswith("text")]
    assert tau.path in words and f"[{tau.unit}]" in words
    assert all(name in words for name in tau.names)
    curves = [path for path in svg.iter() if path.tag.endswith(("path", "polyline"))]
    assert len(curves) >= len(tau.names)
    picture.save(tmp_path / "tau.svg")
    assert (tmp_path / "tau.svg").read_text(encoding="utf-8") == picture.svg
    one = tau[:, 0].plot().svg
    assert one.startswith("<svg") and tau.path in one
    with pytest.raises(ImportError):
        tau.plot(color="red")


def test_matplotlib(tau):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = tau.plot()
    assert axes.get_ylabel() == "pd.tau [N*m]" and len(axes.lines) == 12
