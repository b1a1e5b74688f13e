"""The posterior of a cumulative link mixed model (logit), drawn by NumPyro's NUTS.

The model is the one that `clmm` fits: P(rating ≤ j) = logistic(cut_j − xβ − random effects). The
priors are on the latent scale, in log-odds:

- category probabilities of the reference: Dirichlet, uniform by default, which gives the cuts;
- effects β: normal around 0;
- standard deviations of random effects: half-normal;
- correlations of intercepts and slopes: LKJ.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empathylab.errors import MissingExtra
from empathylab.stats.mixed.design import MixedDesign

Draws = NDArray[np.floating[Any]]
_FAR = 50.0
"""A cut that no latent value reaches."""


@dataclass(frozen=True, slots=True)
class Priors:
    """How wide the priors are, in log-odds."""

    effect_sd: float = 1.5
    """Normal(0, effect_sd): odds ratios from 1/19 to 19 in 95%."""
    spread_sd: float = 1.0
    """Half-normal: standard deviations of random effects up to 2 in 95%."""
    category: float = 1.0
    """Dirichlet concentration of every category; 1 is uniform."""
    correlation: float = 2.0
    """LKJ; above 1, extreme correlations are less likely."""

    def scaled(self, factor: float) -> Priors:
        """The priors with effects and standard deviations `factor` times as wide."""
        return dataclasses.replace(
            self, effect_sd=factor * self.effect_sd, spread_sd=factor * self.spread_sd
        )


@dataclass(frozen=True, slots=True)
class Posterior:
    """Draws from a posterior, all chains one after the other, and whether they can be trusted."""

    priors: Priors
    effects: Mapping[str, Draws]
    """By coefficient."""
    cuts: Draws
    """Draws × thresholds."""
    covariances: tuple[Draws, ...]
    """Per grouping: draws × columns × columns, of its random effects."""
    spread: Mapping[str, Draws]
    """Standard deviations by random effect, as `Clmm.random_effects` names them."""
    chains: int
    rhat: float
    """The largest split R-hat of effects, cuts and standard deviations; 1 where chains agree."""
    effective_draws: float
    """The smallest effective sample size of these."""
    divergences: int

    @property
    def draws(self) -> int:
        return len(self.cuts)

    @property
    def reliable(self) -> bool:
        """Whether the chains agree, with enough draws and without divergences."""
        return self.rhat < 1.01 and self.effective_draws >= 400 and self.divergences == 0


def sample_posterior(
    design: MixedDesign,
    priors: Priors | None = None,
    *,
    seed: int = 1,
    warmup: int = 1000,
    draws: int = 1000,
    chains: int = 4,
    batches: int = 6,
) -> Posterior:
    """Draws from the posterior of the ordinal model whose arrays `design` holds.

    Each chain has `draws`, and as many again, up to so many `batches`, until they are reliable.
    """
    chosen = priors or Priors()
    sampler = posterior_sampler(design, chosen, warmup=warmup, draws=draws, chains=chains)
    return run_sampler(sampler, design, chosen, seed=seed, batches=batches)


def posterior_sampler(
    design: MixedDesign, priors: Priors, *, warmup: int, draws: int, chains: int
) -> Any:
    """NumPyro's sampler of the model, which `run_sampler` can run on several sets of ratings."""
    # One thread: XLA's threads wait for each other on arrays as small as these.
    os.environ.setdefault(
        "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    )
    try:
        from numpyro.infer import MCMC, NUTS
    except ImportError:
        raise MissingExtra("numpyro", "bayes", "A Bayesian analysis") from None
    # Vectorised chains need no devices of their own, so that nothing global is set.
    return MCMC(
        NUTS(_model(design, priors), target_accept_prob=0.9),
        num_warmup=warmup,
        num_samples=draws,
        num_chains=chains,
        chain_method="vectorized" if chains > 1 else "sequential",
        progress_bar=False,
        jit_model_args=True,
    )


def run_sampler(
    sampler: Any, design: MixedDesign, priors: Priors, *, seed: int, batches: int = 1
) -> Posterior:
    """The posterior of the ratings in `design`, which may differ from the sampler's in them."""
    import jax

    key, by_chain = jax.random.PRNGKey(seed), dict[str, Draws]()
    batch = divergences = 0
    while True:
        batch += 1
        sampler.run(key, np.asarray(design.y), extra_fields=("diverging",))
        for name, values in sampler.get_samples(group_by_chain=True).items():
            if not name.startswith("z_"):
                before = [by_chain[name]] if name in by_chain else []
                by_chain[name] = np.concatenate([*before, np.asarray(values, dtype=float)], axis=1)
        divergences += int(np.asarray(sampler.get_extra_fields()["diverging"]).sum())
        posterior = _posterior(design, priors, by_chain, divergences)
        if posterior.reliable or divergences or batch == batches:
            sampler.post_warmup_state = None
            return posterior
        # The chains go on where they are, with the step sizes of their warm-up.
        sampler.post_warmup_state = sampler.last_state
        key = sampler.post_warmup_state.rng_key


def _model(design: MixedDesign, priors: Priors) -> Any:
    """The model as a NumPyro function; random effects are non-centred."""
    import jax.numpy as jnp
    import numpyro
    from jax.nn import log_sigmoid
    from numpyro import distributions as dist

    x = jnp.asarray(design.x, dtype=float)
    blocks = _blocks(design)

    def model(y: Any) -> None:
        concentration = jnp.full(len(design.levels), priors.category)
        shares = numpyro.sample("shares", dist.Dirichlet(concentration))
        below = jnp.clip(jnp.cumsum(shares)[:-1], 1e-6, 1 - 1e-6)
        cuts = numpyro.deterministic("cuts", jnp.log(below) - jnp.log1p(-below))
        size = x.shape[1]
        effects = numpyro.sample(
            "effects", dist.Normal(0, priors.effect_sd).expand([size]).to_event(1)
        )
        latent = x @ effects
        for name, codes, levels, columns in blocks:
            width = columns.shape[1]
            # Signed: a standard deviation near 0 is passed through, where a positive one would
            # stick to its boundary. Its size is half-normal, and the LKJ prior knows no signs.
            signed = numpyro.sample(
                f"signed_{name}", dist.Normal(0, priors.spread_sd).expand([width]).to_event(1)
            )
            numpyro.deterministic(f"sd_{name}", jnp.abs(signed))
            factor = signed[:, None] * jnp.eye(width)
            if width > 1:
                lower = numpyro.sample(f"l_{name}", dist.LKJCholesky(width, priors.correlation))
                factor = signed[:, None] * lower
            z = numpyro.sample(f"z_{name}", dist.Normal(0, 1).expand([levels, width]).to_event(2))
            latent = latent + jnp.sum(columns * (z @ factor.T)[codes], axis=-1)
        # σ(a) − σ(b) = σ(a) σ(−b) (1 − exp(b − a)), which loses no digits far from the cuts.
        ends = jnp.concatenate([jnp.array([-_FAR]), cuts, jnp.array([_FAR])])
        widths = jnp.log1p(-jnp.exp(-jnp.diff(ends)))
        sides = log_sigmoid(ends[y + 1] - latent) + log_sigmoid(latent - ends[y])
        numpyro.factor("y", jnp.sum(sides + widths[y]))

    return model


def _blocks(design: MixedDesign) -> list[tuple[str, NDArray[Any], int, NDArray[Any]]]:
    """Name, codes, number of levels and columns of every block of correlated effects."""
    blocks = []
    for number, group in enumerate(design.groups):
        given = group.columns.given
        columns = np.ones((design.n, 1)) if given is None else given
        blocks += [
            (f"{number}_{place}", np.asarray(group.codes), len(group.levels), columns[:, block])
            for place, block in enumerate(map(list, group.columns.blocks))
        ]
    return blocks


def _posterior(
    design: MixedDesign, priors: Priors, by_chain: Mapping[str, Draws], divergences: int
) -> Posterior:
    from numpyro.diagnostics import effective_sample_size, split_gelman_rubin

    watched = [values for name, values in by_chain.items() if name[:2] in ("cu", "ef", "sd")]
    joined = {name: values.reshape(-1, *values.shape[2:]) for name, values in by_chain.items()}
    covariances: list[Draws] = []
    spread: dict[str, Draws] = {}
    for number, group in enumerate(design.groups):
        size = len(group.columns.names)
        whole = np.zeros((len(joined["cuts"]), size, size))
        for place, block in enumerate(map(list, group.columns.blocks)):
            factor = joined[f"signed_{number}_{place}"][:, :, None] * joined.get(
                f"l_{number}_{place}", np.eye(len(block))
            )
            whole[np.ix_(range(len(whole)), block, block)] = factor @ factor.transpose(0, 2, 1)
        covariances.append(whole)
        sds = np.sqrt(np.diagonal(whole, axis1=1, axis2=2))
        spread |= {name: sds[:, place] for place, name in enumerate(group.effect_names)}
    return Posterior(
        priors=priors,
        effects={name: joined["effects"][:, place] for place, name in enumerate(design.names)},
        cuts=joined["cuts"],
        covariances=tuple(covariances),
        spread=spread,
        chains=next(iter(by_chain.values())).shape[0],
        rhat=float(max(np.max(split_gelman_rubin(values)) for values in watched)),
        effective_draws=float(min(np.min(effective_sample_size(values)) for values in watched)),
        divergences=divergences,
    )
