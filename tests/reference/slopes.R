# Reference values of mixed models with random slopes, from lme4, lmerTest and ordinal:
#   python slopes.py && Rscript slopes.R
# R 4.2 or later with lme4, lmerTest, ordinal and jsonlite. `||` is written out, because lme4's own
# leaves the levels of a factor correlated.
suppressPackageStartupMessages({library(lmerTest); library(ordinal); library(jsonlite)})
frame <- read.csv("slopes.csv", stringsAsFactors = TRUE)
frame$ordered <- factor(frame$rating)
frame$b <- as.numeric(frame$arm == "b")
frame$c <- as.numeric(frame$arm == "c")
frame$arm_situation <- interaction(frame$arm, frame$situation, drop = TRUE)
tight <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9, maxfun = 1e5))

linear <- function(formula, reml = TRUE) {
  fit <- suppressWarnings(lmer(formula, frame, REML = reml, control = tight))
  table <- coef(summary(fit))
  random <- as.data.frame(VarCorr(fit))
  list(criterion = if (reml) REMLcrit(fit) else -2 * as.numeric(logLik(fit)),
       estimate = as.list(table[, 1]), se = as.list(table[, 2]), df = as.list(table[, 3]),
       random = random[, c("grp", "var1", "var2", "sdcor")], singular = isSingular(fit))
}
cumulative <- function(formula, link = "logit") {
  fit <- clmm(formula, frame, link = link, control = clmm.control(gradTol = 1e-7))
  table <- coef(summary(fit))
  covariances <- VarCorr(fit)
  list(log_likelihood = as.numeric(logLik(fit)),
       estimate = as.list(table[, 1]), se = as.list(table[, 2]),
       random = lapply(covariances, function(one)
         list(sd = as.list(attr(one, "stddev")), correlation = attr(one, "correlation"))))
}
result <- list(
  versions = list(R = R.version.string, lme4 = as.character(packageVersion("lme4")),
                  ordinal = as.character(packageVersion("ordinal"))),
  linear = list(
    correlated = linear(score ~ arm + x + (1 + arm | rater) + (1 | situation)),
    correlated_ml = linear(score ~ arm + x + (1 + arm | rater) + (1 | situation), FALSE),
    uncorrelated = linear(score ~ arm + x + (1 | rater) + (0 + b | rater) + (0 + c | rater) +
                            (1 + x | situation)),
    number = linear(score ~ arm + x + (1 | rater) + (1 + x | situation)),
    number_apart = linear(score ~ arm + x + (1 | rater) + (x || situation)),
    means = linear(score ~ arm + x + (0 + arm | rater) + (1 | situation)),
    interaction = linear(score ~ arm + x + (1 | rater) + (1 | situation) + (1 | arm_situation))
  ),
  cumulative = list(
    correlated = cumulative(ordered ~ arm + x + (1 + arm | rater) + (1 | situation)),
    uncorrelated = cumulative(ordered ~ arm + x + (1 | rater) + (0 + b | rater) + (0 + c | rater) +
                                (1 | situation)),
    number = cumulative(ordered ~ arm + x + (1 | rater) + (1 + x | situation)),
    probit = cumulative(ordered ~ arm + x + (1 + arm | rater), "probit")
  )
)
write_json(result, "slopes.json", auto_unbox = TRUE, digits = 10, pretty = TRUE)
