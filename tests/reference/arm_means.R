# Means of rated arms with raters as the independent units, for tests/stats/test_arm_means.py.
# Rscript arm_means.R, R 4 with sandwich; HC0 with the cluster adjustment G/(G - 1).
library(sandwich)

data <- read.csv("rated_arms.csv")
mean_of <- function(part) {
  fit <- lm(rating ~ 1, part)
  se <- sqrt(vcovCL(fit, cluster = part$rater, type = "HC0", cadjust = TRUE)[1, 1])
  groups <- length(unique(part$rater))
  coef(fit)[[1]] + c(0, -1, 1) * qt(0.975, groups - 1) * se
}
difference_of <- function(arm) {
  part <- data[data$arm %in% c(arm, "human"), ]
  part$other <- part$arm == arm
  fit <- lm(rating ~ other, part)
  se <- sqrt(vcovCL(fit, cluster = part$rater, type = "HC0", cadjust = TRUE)[2, 2])
  df <- length(unique(part$rater)) - 2
  t <- coef(fit)[[2]] / se
  c(coef(fit)[[2]] + c(0, -1, 1) * qt(0.975, df) * se, t, df, 2 * pt(-abs(t), df))
}
hedges <- function(arm) {
  a <- data$rating[data$arm == arm]
  b <- data$rating[data$arm == "human"]
  df <- length(a) + length(b) - 2
  pooled <- sqrt(((length(a) - 1) * var(a) + (length(b) - 1) * var(b)) / df)
  (mean(a) - mean(b)) / pooled * exp(lgamma(df / 2) - lgamma((df - 1) / 2)) / sqrt(df / 2)
}
options(digits = 10)
for (arm in c("human", "alpha", "beta")) print(mean_of(data[data$arm == arm, ]))
for (arm in c("alpha", "beta")) print(difference_of(arm))
for (arm in c("alpha", "beta")) print(hedges(arm))
print(p.adjust(sapply(c("alpha", "beta"), function(arm) difference_of(arm)[6]), "holm"))
