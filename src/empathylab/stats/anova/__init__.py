"""Analysis of variance of factorial designs."""

from empathylab.stats.anova.model import Anova, Term, anova

__all__ = ["Anova", "Term", "anova"]
