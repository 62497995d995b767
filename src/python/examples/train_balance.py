"""Train the network that balances the cart-pole of `diagrams/basics/balance.ron`, and deploy it.

    pip install 'legwork-sim[gymnasium]' 'skrl[jax]' safetensors
    python src/python/examples/train_balance.py

Proximal policy optimisation by skrl on copies of the diagram, whose ports are the environment:
`control=outside` opens the loop. The mean of the policy is then written to
`diagrams/basics/balance.safetensors`, which the block `Policy` of the same diagram reads, and tried
from a hundred starts that the training has not seen. It takes a few minutes on two cores.
"""

import argparse
import pathlib

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from safetensors.numpy import save_file
from skrl import config
from skrl.agents.jax.ppo import PPO, PPO_CFG
from skrl.envs.wrappers.jax import wrap_env
from skrl.memories.jax import RandomMemory
from skrl.models.jax import DeterministicMixin, GaussianMixin, Model
from skrl.trainers.jax import SequentialTrainer
from skrl.utils import set_seed

import legwork
import legwork.gymnasium

DIAGRAM = pathlib.Path(__file__).parents[3] / "diagrams/basics/balance.ron"
#: Copies of the diagram, and actions of each.
COPIES, ACTIONS = 128, 16384
#: Steps of the diagram for an action.
STEPS = 2


def start(rng):
    """Where an episode begins."""
    return {
        "place": f"{rng.uniform(-0.5, 0.5)} m",
        "tilt": f"{rng.uniform(-0.3, 0.3)} rad",
        "speed": f"{rng.uniform(-0.5, 0.5)} m/s",
        "turn": f"{rng.uniform(-0.5, 0.5)} rad/s",
    }


class Actor(GaussianMixin, Model):
    """A mean from two hidden layers of 32, and a deviation of its own."""

    def __init__(self, **fields):
        Model.__init__(self, **fields)
        GaussianMixin.__init__(self, min_log_std=-3)

    @nn.compact
    def __call__(self, inputs, role):
        h = inputs["observations"]
        for _ in range(2):
            h = nn.tanh(nn.Dense(32)(h))
        mean = nn.Dense(1)(h)
        return mean, {"log_std": self.param("log_std", lambda _: jnp.full(1, -0.7))}


class Critic(DeterministicMixin, Model):
    """The value of a state."""

    def __init__(self, **fields):
        Model.__init__(self, **fields)
        DeterministicMixin.__init__(self)

    @nn.compact
    def __call__(self, inputs, role):
        h = inputs["observations"]
        for _ in range(2):
            h = nn.tanh(nn.Dense(32)(h))
        return nn.Dense(1)(h), {}


def train(seed):
    """Kernels and biases of the actor."""
    config.jax.key = jax.random.PRNGKey(set_seed(seed))
    outside = legwork.open(DIAGRAM, variant={"control": "outside"})
    env = legwork.gymnasium.VectorEnv(
        outside, COPIES, terminated="lost", steps=STEPS, low=-1, high=1, draw=start
    )
    env = wrap_env(env, wrapper="gymnasium")
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space}
    models = {"policy": Actor(**spaces), "value": Critic(**spaces)}
    for role, model in models.items():
        model.init_state_dict(role=role)
    settings = PPO_CFG(
        rollouts=64,
        learning_epochs=8,
        mini_batches=4,
        discount_factor=0.995,
        gae_lambda=0.95,
        learning_rate=1e-3,
        grad_norm_clip=0.5,
        value_loss_scale=1.0,
    )
    settings.experiment.write_interval = 0
    settings.experiment.checkpoint_interval = 0
    memory = RandomMemory(memory_size=settings.rollouts, num_envs=COPIES)
    agent = PPO(models=models, memory=memory, cfg=settings, **spaces)
    SequentialTrainer(env=env, agents=agent, cfg={"timesteps": ACTIONS, "headless": True}).train()
    return models["policy"].state_dict.params["params"]


def solved(count, seed):
    """How many of so many new episodes the deployed diagram's checks pass."""
    rng = np.random.default_rng(seed)
    deployed = legwork.open(DIAGRAM)
    runs = (deployed.with_(set=start(rng)).run() for _ in range(count))
    return sum(all(run.summary["checks"].values()) for run in runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--out", default=DIAGRAM.with_suffix(".safetensors"))
    options = parser.parse_args()
    layers = train(options.seed)
    tensors = {
        f"{layer}.{kind}": np.asarray(layers[layer][kind])
        for layer in sorted(name for name in layers if name.startswith("Dense"))
        for kind in ("kernel", "bias")
    }
    save_file(tensors, options.out)
    print(f"{solved(100, 1_000)} of 100 episodes end well")


if __name__ == "__main__":
    main()
