# Makes clmm.json: small simulated ratings, and what R's ordinal and emmeans say about them.
# Run as: Rscript tests/reference/clmm.R tests/reference/clmm.json
# Needs Debian's r-cran-ordinal, r-cran-emmeans and r-cran-jsonlite. The file was made with
# R 4.2.2, ordinal 2022.11-16 and emmeans 1.8.4-1.
suppressPackageStartupMessages({
  library(ordinal)
  library(emmeans)
  library(jsonlite)
})
set.seed(20240611)

tight <- clmm.control(gradTol = 1e-7)

sliced <- function(latent, cuts) as.integer(cut(latent, c(-Inf, cuts, Inf)))

fitted_values <- function(model) {
  se <- sqrt(diag(vcov(model)))
  fixed <- names(coef(model))
  out <- list(
    coef = as.list(coef(model)),
    se = as.list(se[fixed]),
    logLik = as.numeric(logLik(model)),
    aic = AIC(model)
  )
  if (inherits(model, "clmm")) {
    out$sd <- lapply(VarCorr(model), function(v) as.numeric(attr(v, "stddev")))
    out$modes <- lapply(ranef(model), function(r) as.list(setNames(r[[1]], rownames(r))))
  }
  out
}

`%||%` <- function(a, b) if (is.null(a)) b else a

# 1. Crossed, five categories, three arms, a number; about a third of the pairs is rated.
n <- 300
crossed <- data.frame(
  rater = sprintf("r%02d", sample(25, n, TRUE)),
  item = sprintf("i%02d", sample(18, n, TRUE)),
  arm = sample(c("human", "small", "large"), n, TRUE),
  length = round(rnorm(n), 3)
)
r <- setNames(rnorm(25, 0, 1.0), sprintf("r%02d", 1:25))
i <- setNames(rnorm(18, 0, 0.7), sprintf("i%02d", 1:18))
crossed$rating <- sliced(
  c(human = 0, small = -0.6, large = 0.8)[crossed$arm] + 0.4 * crossed$length +
    r[crossed$rater] + i[crossed$item] + rlogis(n), c(-2, -0.8, 0.5, 1.9)
)
crossed$arm <- factor(crossed$arm, c("human", "small", "large"))
of_crossed <- function(formula, link) {
  clmm(formula, data = transform(crossed, rating = factor(rating)), link = link, control = tight)
}
logit <- of_crossed(rating ~ arm + length + (1 | rater) + (1 | item), "logit")
probit <- of_crossed(rating ~ arm + length + (1 | rater) + (1 | item), "probit")
smaller <- of_crossed(rating ~ length + (1 | rater) + (1 | item), "logit")
compared <- anova(smaller, logit)

# 2. Three crossed groupings, three categories.
n <- 400
three <- data.frame(
  rater = sample(20, n, TRUE), item = sample(15, n, TRUE), site = sample(8, n, TRUE),
  arm = sample(c("a", "b"), n, TRUE)
)
three$rating <- sliced(
  0.7 * (three$arm == "b") + rnorm(20, 0, 0.9)[three$rater] + rnorm(15, 0, 0.6)[three$item] +
    rnorm(8, 0, 1.1)[three$site] + rlogis(n), c(-0.7, 0.9)
)
three_fit <- clmm(
  factor(rating) ~ arm + (1 | rater) + (1 | item) + (1 | site), data = transform(
    three, rater = factor(rater), item = factor(item), site = factor(site)
  ), control = tight
)

# 3. Nested, four categories, an interaction.
n <- 360
nested <- data.frame(school = rep(1:12, each = 30), class = rep(rep(1:3, each = 10), 12))
nested$arm <- rep(c("a", "b"), 180)
nested$valence <- sample(c("negative", "positive"), n, TRUE)
nested$rating <- sliced(
  0.5 * (nested$arm == "b") + 0.4 * (nested$valence == "positive") -
    0.6 * (nested$arm == "b" & nested$valence == "positive") +
    rnorm(12, 0, 0.8)[nested$school] + rnorm(36, 0, 0.7)[(nested$school - 1) * 3 + nested$class] +
    rlogis(n), c(-1.5, 0, 1.4)
)
nested$valence <- factor(nested$valence, c("negative", "positive"))
nested_fit <- clmm(
  factor(rating) ~ arm * valence + (1 | school) + (1 | inner), data = transform(
    nested, school = factor(school), inner = interaction(school, class, drop = TRUE)
  ), control = tight
)

# 4. No random effects: clm, with emmeans on its three scales.
plain <- transform(nested, rating = factor(rating))
plain_fit <- clm(rating ~ arm * valence, data = plain)
means <- function(model, mode) {
  wanted <- if (mode == "prob") ~ arm * rating else ~arm
  shown <- as.data.frame(summary(emmeans(model, wanted, mode = mode)))
  value <- intersect(c("emmean", "prob", "mean.class"), names(shown))
  lapply(split(shown, seq_len(nrow(shown))), function(row) {
    list(
      arm = as.character(row$arm), category = as.character(row$rating %||% ""),
      estimate = row[[value]], se = row$SE, low = row$asymp.LCL, high = row$asymp.UCL
    )
  })
}
crossed_named <- transform(crossed, rating = factor(rating))
crossed_fit <- clmm(
  rating ~ arm + length + (1 | rater) + (1 | item), data = crossed_named, control = tight
)
contrasts <- as.data.frame(summary(
  pairs(emmeans(crossed_fit, ~arm, mode = "latent")), adjust = "holm", infer = TRUE
))
by_class <- as.data.frame(summary(
  pairs(emmeans(crossed_fit, ~arm, mode = "mean.class")), adjust = "none", infer = TRUE
))
rows <- function(frame, names) {
  lapply(seq_len(nrow(frame)), function(k) {
    c(list(contrast = as.character(frame$contrast[k])), as.list(frame[k, names]))
  })
}

out <- list(
  made_by = paste(
    "tests/reference/clmm.R:", R.version.string, "ordinal", packageVersion("ordinal"), "emmeans",
    packageVersion("emmeans")
  ),
  data = list(crossed = as.list(crossed), three = as.list(three), nested = as.list(nested)),
  fits = list(
    crossed_logit = fitted_values(logit), crossed_probit = fitted_values(probit),
    three = fitted_values(three_fit), nested = fitted_values(nested_fit),
    plain = fitted_values(plain_fit)
  ),
  likelihood_ratio = list(
    statistic = compared$LR.stat[2], df = compared$df[2], p = compared[["Pr(>Chisq)"]][2]
  ),
  margins = list(
    plain_latent = unname(means(plain_fit, "latent")),
    plain_prob = unname(means(plain_fit, "prob")),
    plain_mean_class = unname(means(plain_fit, "mean.class")),
    crossed_latent = unname(means(crossed_fit, "latent")),
    crossed_prob = unname(means(crossed_fit, "prob")),
    crossed_mean_class = unname(means(crossed_fit, "mean.class"))
  ),
  contrasts = list(
    crossed_latent_holm = rows(contrasts, c("estimate", "SE", "z.ratio", "p.value")),
    crossed_mean_class = rows(by_class, c("estimate", "SE", "z.ratio", "p.value"))
  )
)
write(toJSON(out, auto_unbox = TRUE, digits = 10), commandArgs(TRUE)[1])
