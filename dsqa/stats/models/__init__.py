r"""Right or wrong as a function of level, category, model, temperature: two models for clustered yes/no data.

**Mixed logistic regression** (`glmm`): logit P(y = 1 | u_q) = x'β + u_q, u_q ~ Normal(0, σ²) per question. β is the
effect *within a question*. Each question's likelihood ∫ Π f(y | u) φ(u; σ²) du has one dimension and is computed
by adaptive Gauss–Hermite quadrature around the mode û_q with the curvature there (Liu & Pierce 1994, Biometrika
81:624; Pinheiro & Bates 1995): deterministic, and at 25 nodes exact to about 6 digits. One node is the Laplace
approximation, R's `glmer` default, whose σ² is some 4 % low where questions are always right or always wrong.
Runs with equal predictors are counted together, so 160,000 runs take no longer than their distinct conditions.
Standard errors from the Hessian of that likelihood; `glmer`'s own finite differences are off by up to 4 %.

**Generalised estimating equations** (`gee`): logit E(y) = x'β for the *average question*, runs of a question
correlated alike (exchangeable). Robust (sandwich) errors hold even where that correlation is wrong (Liang & Zeger
1986, Biometrika 73:13); they are too small with few questions, so the default is the bias-reduced form (Mancl &
DeRouen 2001, Biometrics 57:126) with t on clusters − terms degrees of freedom.

The two estimate different things: the average question's log odds ratio is smaller than that within a question by
about √(1 + 0.35 σ²) (Zeger, Liang & Albert 1988). Say which one is meant.

Where some questions are always right and others of the same kind nearly never, the exchangeable equations can have
no finite solution: a question that is right against all odds raises the estimated correlation, which pulls the
odds further down. That is refused (statsmodels 0.15 reports a coefficient of −6 · 10⁹ as converged); independence
with robust errors, or the mixed model, remain.
"""

from dsqa.stats.models.clustered import ClusteredFit
from dsqa.stats.models.equations import gee
from dsqa.stats.models.mixed import glmm, likelihood_ratio

__all__ = ["ClusteredFit", "gee", "glmm", "likelihood_ratio"]
