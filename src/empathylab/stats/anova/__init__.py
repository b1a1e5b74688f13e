"""Analysis of variance of factorial designs."""

from empathylab.stats.anova.model import Anova, Cell, Term, anova

__all__ = ["Anova", "Cell", "Term", "anova"]
