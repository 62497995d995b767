"""The block `Policy` computes what the trainer's network does."""

import numpy as np
import pytest

import legwork

TEXT = """Diagram(
    format: 2,
    run: (stop: "1 s", step: "10 ms"),
    ports: (in: { "u": "Vector(5)" }, out: { "y": "Vector(2)" }),
    blocks: { "policy": Policy(path: "net.safetensors", activation: Silu, output: Tanh, in: { "u": "^u" }) },
    out: { "y": "policy.y" },
)"""


@pytest.mark.parametrize("width", ["float32", "float64", "float16"])
def test_a_network_is_that_of_numpy(tmp_path, width):
    safetensors = pytest.importorskip("safetensors.numpy")
    rng = np.random.default_rng(3)
    sizes = [5, 64, 33, 2]
    layers = [
        (rng.normal(size=(m, n)).astype(width), rng.normal(size=m).astype(width))
        for n, m in zip(sizes, sizes[1:])
    ]
    tensors = {}
    for i, (weight, bias) in enumerate(layers):
        tensors[f"net.{6 * i}.weight"], tensors[f"net.{6 * i}.bias"] = weight, bias
    safetensors.save_file(tensors, tmp_path / "net.safetensors")
    diagram = legwork.parse(TEXT, name=str(tmp_path / "net.ron"))
    batch = legwork.Batch(diagram, 100)
    u = rng.normal(size=(100, 5))
    batch.inputs["u"][:] = u
    batch.step()

    h = u
    for i, (weight, bias) in enumerate(layers):
        h = h @ weight.astype(float).T + bias.astype(float)
        h = np.tanh(h) if i == 2 else h / (1 + np.exp(-h))
    assert np.abs(batch.outputs["y"] - h).max() < 1e-12
