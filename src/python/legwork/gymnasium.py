"""Diagrams as environments of Gymnasium, many copies at a time.

>>> import legwork.gymnasium
>>> text = '''Diagram(
...     format: 2,
...     run: (stop: "5 s", step: "10 ms"),
...     params: { "x0": Param(value: "1 m") },
...     ports: (
...         in: { "push": Port(type: "Real", unit: "m/s^2", default: 0.0) },
...         out: { "x": "Real", "v": "Real", "reward": "Real", "lost": "Bool" },
...     ),
...     blocks: {
...         "body":   SecondOrderIntegrator(position: "=x0", in: { "u": "^push" }),
...         "reward": Fcn(expression: "=1 - abs(u)", in: { "u": "body.position" }),
...         "lost":   Fcn(expression: "=abs(u) > 2", in: { "u": "body.position" }),
...     },
...     out: {
...         "x": "body.position", "v": "body.velocity", "reward": "reward.y", "lost": "lost.y",
...     },
... )'''
>>> env = legwork.gymnasium.VectorEnv(
...     legwork.parse(text), 4, reward="reward", terminated="lost", low=-2, high=2,
...     draw=lambda rng: {"x0": f"{rng.uniform(-1, 1)} m"},
... )
>>> seen, _ = env.reset(seed=1)
>>> for _ in range(400):
...     seen, reward, terminated, truncated, infos = env.step(-2 * seen[:, :1] - 2 * seen[:, 1:])
>>> bool(reward.min() > 0.95), bool(truncated.any())
(True, False)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from . import Batch, Diagram


class VectorEnv(gymnasium.vector.VectorEnv):
    """Copies of a diagram with ports as a vector of environments.

    The diagram says what is seen, what is done, what it earns and when it is over, by its ports:

    - ``observation``: outputs, side by side; all that have no other meaning without it,
    - ``action``: inputs, side by side; all of them without it,
    - ``reward``: an output of one number,
    - ``terminated``: an output that is true at the end of an episode, or None,
    - truncated is an episode at the diagram's stop time, or where a block stops it.

    An action holds for ``steps`` major steps. ``low`` and ``high`` bound actions, for the space and
    by clipping. ``draw`` makes episodes differ: it is given a generator and gives values of
    parameters by path, as ``{"x0": rng.uniform(-1, 1)}``; a copy that begins anew gets values of
    its own. A copy whose episode ended begins anew at the next step, as Gymnasium's
    ``AutoresetMode.NEXT_STEP`` says. A fault ends an episode as ``terminated``, with its text in
    ``infos["fault"]``.
    """

    def __init__(
        self,
        diagram: Diagram,
        num_envs: int,
        *,
        reward: str = "reward",
        terminated: str | None = None,
        observation: Sequence[str] | None = None,
        action: Sequence[str] | None = None,
        steps: int = 1,
        low: Any = -np.inf,
        high: Any = np.inf,
        draw: Callable[[np.random.Generator], dict[str, Any]] | None = None,
        threads: int | None = None,
    ):
        if steps < 1:
            raise ValueError(f"expected at least one step for an action, found {steps}")
        self.batch = Batch(diagram, num_envs, threads=threads, on_fault="hold")
        self.num_envs = num_envs
        self.steps, self.draw = steps, draw
        outputs, inputs = self.batch.outputs, self.batch.inputs
        meant = {reward, terminated}
        observation = observation or [name for name in outputs if name not in meant]
        action = action or list(inputs)

        def find(all_of_them, name, what):
            if name not in all_of_them:
                known = ", ".join(all_of_them) or "none"
                raise ValueError(f"the diagram has no {what} {name!r}; it has {known}")
            return all_of_them[name]

        def columns(array):
            return array.reshape(num_envs, -1)

        self._seen = [columns(find(outputs, name, "output")) for name in observation]
        self._acts = [columns(find(inputs, name, "input")) for name in action]
        self._reward = find(outputs, reward, "output")
        self._terminated = None if terminated is None else find(outputs, terminated, "output")
        if self._reward.ndim != 1:
            raise ValueError(f"expected a reward of one number, found {reward!r} of more")

        seen = sum(array.shape[1] for array in self._seen)
        acts = sum(array.shape[1] for array in self._acts)
        if not seen or not acts:
            raise ValueError("expected a diagram with outputs to observe and inputs to act on")
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (seen,), np.float64)
        low = np.broadcast_to(np.asarray(low, float), (acts,))
        high = np.broadcast_to(np.asarray(high, float), (acts,))
        self.single_action_space = gymnasium.spaces.Box(low, high, (acts,), np.float64)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self._over = np.zeros(num_envs, bool)
        self._generators = [np.random.default_rng() for _ in range(num_envs)]

    def reset(self, *, seed=None, options=None):
        """Begin all episodes anew; ``seed`` is that of the first copy, or one for each."""
        if seed is not None:
            seeds = range(seed, seed + self.num_envs) if isinstance(seed, int) else seed
            self._generators = [np.random.default_rng(one) for one in seeds]
        self._begin(np.ones(self.num_envs, bool))
        return self._observation(), {}

    def step(self, actions):
        """Act for ``steps`` major steps."""
        actions = np.asarray(actions, float).reshape(self.num_envs, -1)
        width = self.single_action_space.shape[0]
        if actions.shape[1] != width:
            raise ValueError(f"expected {width} numbers for each action, found {actions.shape[1]}")
        again = self._over
        if again.any():
            self._begin(again)
        space = self.single_action_space
        clipped = np.clip(actions, space.low, space.high)
        goes, start = ~again, 0
        for array in self._acts:
            array[goes] = clipped[goes, start : start + array.shape[1]]
            start += array.shape[1]
        self.batch.step(self.steps, mask=goes)
        faulted = self.batch.faulted
        terminated = faulted.copy()
        if self._terminated is not None:
            terminated |= self._terminated != 0
        terminated &= goes
        truncated = self.batch.ended & ~terminated & goes
        self._over = terminated | truncated
        reward = np.where(goes, self._reward, 0.0)
        infos = {}
        if faulted.any():
            texts = np.full(self.num_envs, None, object)
            for copy, text in self.batch.faults.items():
                texts[copy] = text
            infos = {"fault": texts, "_fault": faulted.copy()}
        return self._observation(), reward, terminated, truncated, infos

    def _begin(self, mask):
        if self.draw is not None:
            for copy in np.flatnonzero(mask):
                for path, value in self.draw(self._generators[copy]).items():
                    self.batch.set_of(int(copy), path, value)
        self.batch.reset(mask)
        self._over = np.where(mask, False, self._over)

    def _observation(self):
        return np.concatenate(self._seen, axis=1)

    def close_extras(self, **_):
        """Nothing is open."""
