r"""Right or wrong as a function of level, category, model, temperature: two models for clustered yes/no data.

**Mixed logistic regression** (`glmm`): logit P(y = 1 | u_q) = x'β + u_q, u_q ~ Normal(0, σ²) per question. β is the
effect *within a question*. Each question's likelihood ∫ Π f(y | u) φ(u; σ²) du has one dimension and is integrated to
about nine digits (`dsqa.stats.models.quadrature`); `nodes=` has adaptive Gauss–Hermite quadrature instead, as R's
`glmer`, whose default of one node is the Laplace approximation, with a σ² some 4 % low where questions are always
right or always wrong. Runs with equal predictors are counted together, so 160,000 runs take no longer than their
distinct conditions. The maximum is searched from several starts and accepted only where the gradient vanishes and
the likelihood falls in every direction (`dsqa.stats.models.maximum`); else there is a refusal. Whether finite
estimates exist is found out before (`dsqa.stats.models.separation`). Standard errors from the Hessian of that
likelihood; `glmer`'s own finite differences are off by up to 4 %.

**A Bayesian hierarchical model** (`hierarchical`): accuracy or score by question, model and temperature, partially
pooled, with shrunken questions and their ranks.

**Firth's penalty** (`firth`): finite estimates where predictors separate right from wrong, such as a model that is
never right.

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
from dsqa.stats.models.firth import FirthFit, firth
from dsqa.stats.models.hierarchical import Hierarchical, Priors, hierarchical, prior_sensitivity
from dsqa.stats.models.mixed import glmm, likelihood_ratio
from dsqa.stats.models.separation import SeparatedError

__all__ = [
    "ClusteredFit",
    "FirthFit",
    "Hierarchical",
    "Priors",
    "SeparatedError",
    "firth",
    "gee",
    "glmm",
    "hierarchical",
    "likelihood_ratio",
    "prior_sensitivity",
]
