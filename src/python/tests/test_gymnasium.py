"""Environments: episodes end, begin anew and differ as Gymnasium says."""

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

import legwork
from legwork.gymnasium import VectorEnv

CART = """Diagram(
    format: 2,
    run: (stop: "1 s", step: "10 ms"),
    params: { "x0": Param(value: "0 m"), "edge": Param(value: "2 m") },
    ports: (
        in: { "push": Port(type: "Real", unit: "m/s^2", default: 0.0) },
        out: { "x": "Real", "v": "Real", "reward": "Real", "lost": "Bool" },
    ),
    blocks: {
        "body":   SecondOrderIntegrator(position: "=x0", in: { "u": "^push" }),
        "reward": Fcn(expression: "=-abs(u)", in: { "u": "body.position" }),
        "lost":   Fcn(expression: "=abs(u) > edge", constants: { "edge": "=edge" }, in: { "u": "body.position" }),
    },
    out: { "x": "body.position", "v": "body.velocity", "reward": "reward.y", "lost": "lost.y" },
)"""


def environment(n=3, **options):
    defaults = {"reward": "reward", "terminated": "lost", "low": -10, "high": 10}
    return VectorEnv(legwork.parse(CART), n, **(defaults | options))


def test_spaces_follow_the_ports():
    env = environment()
    assert env.single_observation_space.shape == (2,)
    assert env.single_action_space.shape == (1,) and env.single_action_space.high == [10.0]
    observation, _ = env.reset(seed=3)
    assert env.observation_space.contains(observation)


def test_an_action_holds_and_earns():
    env = environment(steps=10)
    env.reset()
    observation, reward, terminated, truncated, _ = env.step([[1], [2], [30]])
    # Semi-implicit Euler: u h^2 k (k + 1)/2 after k steps, with u at most 10.
    assert np.allclose(observation[:, 0], np.array([1, 2, 10]) * 55e-4, atol=1e-12)
    assert np.array_equal(reward, -observation[:, 0])
    assert not terminated.any() and not truncated.any()


def test_episodes_end_and_begin_anew():
    env = environment(steps=10)
    env.reset()
    lost, cut = [], []
    for _ in range(10):
        observation, reward, terminated, truncated, _ = env.step([[0], [8], [0]])
        lost.append(terminated.copy()), cut.append(truncated.copy())
    # 2 m at 8 m/s^2 take 0.71 s; the next step begins anew, and earns nothing.
    assert [bool(row[1]) for row in lost] == [False] * 7 + [True, False, False]
    assert cut[-1].tolist() == [True, False, True]
    observation, reward, *_ = env.step([[5], [0], [5]])
    assert np.array_equal(observation[0], [0, 0]) and reward[0] == 0


def test_draws_depend_on_the_seed_alone():
    draw = lambda rng: {"x0": f"{rng.uniform(-1, 1)} m"}
    first, again = (environment(draw=draw).reset(seed=5)[0] for _ in range(2))
    other = environment(draw=draw).reset(seed=6)[0]
    assert np.array_equal(first, again) and len(set(first[:, 0])) == 3
    # Seeds of copies follow one another.
    assert np.array_equal(first[1:], other[:2])


def test_mistakes():
    with pytest.raises(ValueError, match="no output 'rewards'; it has"):
        environment(reward="rewards")
    with pytest.raises(ValueError, match="expected 1 numbers"):
        env = environment()
        env.reset()
        env.step([[1, 2]] * 3)
