# Makes rated_arms.json: what R says of rated_arms.csv, paired_arms.csv and raters.csv, three small
# files of invented ratings (drawn once from an ordinal model with a fixed seed).
# Run in this folder: Rscript rated_arms.R > rated_arms.json
# R 4.2.2 with survey 4.1-1, sandwich 3.0-2, jsonlite.
suppressMessages({library(survey); library(sandwich); library(jsonlite)})

rated <- read.csv("rated_arms.csv", stringsAsFactors = FALSE)
rated$good <- as.integer(rated$rating == 3)
two <- rated[rated$arm %in% c("human", "alpha"), ]
square <- table(factor(two$arm, c("alpha", "human")), factor(two$good, c(1, 0)))
full <- table(factor(rated$arm, c("human", "alpha", "beta")), rated$rating)

tested <- function(t) list(statistic = unname(t$statistic), df = unname(t$parameter), p = t$p.value)

# The noncentrality whose upper or lower tail is .025 at the statistic.
noncentral <- function(x, df, tail) {
  f <- function(ncp) pchisq(x, df, ncp) - tail
  if (f(0) < 0) 0 else uniroot(f, c(0, 10 * x + 50), tol = 1e-12)$root
}
limits <- function(tab) {
  x <- unname(suppressWarnings(chisq.test(tab, correct = FALSE))$statistic)
  df <- prod(dim(tab) - 1)
  sqrt(c(x, noncentral(x, df, .975), noncentral(x, df, .025)) / sum(tab))
}

logit <- glm(good ~ I(arm == "alpha"), binomial, two)
shares <- prop.table(square, 1)[, 1]
katz <- sqrt(sum((1 - shares) / square[, 1]))

rao <- function(data, cell) {
  design <- svydesign(ids = ~rater, data = data, weights = ~1)
  t <- svychisq(as.formula(paste("~ arm +", cell)), design, statistic = "F")
  list(f = unname(t$statistic), df = unname(t$parameter[1]),
       df_denominator = unname(t$parameter[2]), p = unname(t$p.value))
}
robust <- function(data) {
  fit <- lm(good ~ I(arm == "alpha"), data)
  list(difference = unname(coef(fit)[2]),
       se = sqrt(vcovCL(fit, data$rater, type = "HC0", cadjust = TRUE)[2, 2]))
}
icc <- function(data) {
  ms <- summary(aov(good ~ rater, data))[[1]][["Mean Sq"]]
  m <- table(data$rater); n <- sum(m)
  typical <- (n - sum(m^2) / n) / (length(m) - 1)
  (ms[1] - ms[2]) / (ms[1] + (typical - 1) * ms[2])
}
side <- function(name) rated$rating[rated$arm == name]

paired <- read.csv("paired_arms.csv", stringsAsFactors = FALSE)
paired$good <- as.integer(paired$rating == 3)
wide <- reshape(paired[, c("rater", "arm", "rating")], idvar = "rater", timevar = "arm",
                direction = "wide")
a <- wide$rating.alpha; h <- wide$rating.human
pairs <- table(factor(a == 3, c(TRUE, FALSE)), factor(h == 3, c(TRUE, FALSE)))
within <- paired[paired$arm %in% c("human", "alpha"), ]

raters <- read.csv("raters.csv", stringsAsFactors = FALSE)
teq <- split(raters$teq, raters$arm)
bound <- 0.3 * sqrt((var(teq$alpha) + var(teq$human)) / 2)
upper <- t.test(teq$alpha, teq$human, mu = bound, alternative = "less")
lower <- t.test(teq$alpha, teq$human, mu = -bound, alternative = "greater")
welch <- oneway.test(teq ~ arm, raters)
t <- t.test(teq$alpha, teq$human)
set.seed(1)
country <- suppressWarnings(chisq.test(table(raters$arm, raters$country)))
simulated <- chisq.test(table(raters$arm, raters$country), simulate.p.value = TRUE, B = 1e6)

power <- function(n, w, df) pchisq(qchisq(.95, df), df, n * w^2, lower.tail = FALSE)

# Newcombe's method 10 from the ends that prop.test gives each share (Wilson's).
newcombe <- function(a, m, b, n) {
  one <- suppressWarnings(prop.test(a, m, correct = FALSE)$conf.int)
  two <- suppressWarnings(prop.test(b, n, correct = FALSE)$conf.int)
  p <- a / m; q <- b / n
  p - q + c(-sqrt((p - one[1])^2 + (two[2] - q)^2), sqrt((one[2] - p)^2 + (q - two[1])^2))
}
# Stuart's quadratic form, from the definition of the covariance of the marginal differences.
stuart <- function(tab) {
  k <- nrow(tab) - 1
  d <- (rowSums(tab) - colSums(tab))[1:k]
  v <- -(tab + t(tab)); diag(v) <- rowSums(tab) + colSums(tab) - 2 * diag(tab)
  c(d %*% solve(v[1:k, 1:k]) %*% d)
}
vision <- matrix(c(1520, 266, 124, 66, 234, 1512, 432, 78, 117, 362, 1772, 205, 36, 82, 179, 492),
                 4, byrow = TRUE)

write(toJSON(list(
  made_by = paste(R.version.string, "survey", packageVersion("survey"), "sandwich",
                  packageVersion("sandwich")),
  square = unclass(unname(square)),
  yates = tested(chisq.test(square)),
  plain = tested(chisq.test(square, correct = FALSE)),
  w_square = limits(square),
  full = tested(chisq.test(full)),
  w_full = limits(full),
  fisher = c(fisher.test(matrix(c(3, 1, 1, 3), 2))$p.value,
             fisher.test(matrix(c(0, 5, 8, 2), 2))$p.value,
             fisher.test(matrix(c(10, 2, 3, 15), 2))$p.value,
             fisher.test(matrix(c(1, 9, 11, 3), 2))$p.value),
  odds_ratio = unname(exp(c(coef(logit)[2], confint.default(logit)[2, ]))),
  ratio = unname(shares[1] / shares[2] * exp(c(0, -1, 1) * qnorm(.975) * katz)),
  wilson = as.numeric(prop.test(square[1, 1], sum(square[1, ]), correct = FALSE)$conf.int),
  wilcoxon = tested(wilcox.test(side("alpha"), side("human"), exact = FALSE)),
  kruskal = tested(kruskal.test(rating ~ factor(arm), rated)),
  rao_scott_good = rao(two, "good"),
  rao_scott_full = rao(rated, "rating"),
  rao_scott_within = rao(within, "rating"),
  robust_between = robust(two),
  robust_within = robust(within),
  icc_alpha = icc(rated[rated$arm == "alpha", ]),
  pairs = unclass(unname(pairs)),
  mcnemar = tested(mcnemar.test(pairs)),
  # The example of R's own help page, from Agresti (1990), p. 350.
  mcnemar_approval = tested(mcnemar.test(matrix(c(794, 86, 150, 570), 2))),
  binomial = binom.test(pairs[1, 2], pairs[1, 2] + pairs[2, 1])$p.value,
  paired_odds = as.numeric(local({
    i <- binom.test(pairs[1, 2], pairs[1, 2] + pairs[2, 1])$conf.int; i / (1 - i) })),
  signed_ranks = tested(wilcox.test(a, h, paired = TRUE, exact = FALSE)),
  friedman = tested(friedman.test(as.matrix(wide[, -1]))),
  # Cochran's Q is Friedman's statistic of zeros and ones.
  cochran = tested(friedman.test(1 * (as.matrix(wide[, -1]) == 3))),
  welch = list(f = unname(welch$statistic), df = unname(welch$parameter), p = welch$p.value),
  kruskal_teq = tested(kruskal.test(teq ~ factor(arm), raters)),
  t = list(t = unname(t$statistic), df = unname(t$parameter), p = t$p.value,
           low = t$conf.int[1], high = t$conf.int[2]),
  tost = max(upper$p.value, lower$p.value),
  tost_interval = as.numeric(t.test(teq$alpha, teq$human, conf.level = .9)$conf.int),
  country = tested(country),
  country_simulated = simulated$p.value,
  power_253_8 = power(253, .3, 8), power_252_8 = power(252, .3, 8),
  power_145_1 = power(145, .3, 1), power_100_2 = power(100, .25, 2),
  newcombe = list(newcombe(56, 70, 48, 80), newcombe(9, 10, 3, 10), newcombe(6, 7, 2, 7),
                  newcombe(5, 56, 0, 29), newcombe(0, 10, 0, 20)),
  stuart = stuart(vision),
  threshold = uniroot(function(at) integrate(function(u) plogis(at - u) * dnorm(u), -Inf, Inf,
                      rel.tol = 1e-10)$value - .2, c(-5, 0), tol = 1e-12)$root,
  two_shares_100 = power.prop.test(n = 100, p1 = .65, p2 = .5)$power,
  two_shares_n = power.prop.test(p1 = .65, p2 = .5, power = .9)$n
), digits = NA, auto_unbox = TRUE, pretty = TRUE), stdout())
