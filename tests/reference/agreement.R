# Makes the frozen numbers of tests/stats/agreement (agreement_r.json).
# Run: Rscript tests/reference/agreement.R > tests/reference/agreement_r.json
# Made with R 4.2.2, psych 2.2.9 (Debian 12).
suppressMessages({library(psych); library(jsonlite)})
out <- list()

# Shrout & Fleiss (1979), table 2.
sf <- matrix(c(9,2,5,8, 6,1,3,2, 8,4,6,8, 7,1,2,6, 10,5,6,9, 6,2,4,7), ncol = 4, byrow = TRUE)
icc <- ICC(sf, lmer = FALSE)$results
out$icc <- data.frame(type = icc$type, icc = icc$ICC, low = icc$`lower bound`, high = icc$`upper bound`)

# Two raters on a five-point scale, no value skipped.
a <- c(1,2,3,4,5,3,2,4,4,5,1,2,3,3,4,5,5,2,1,3)
b <- c(1,3,3,4,4,2,2,5,4,5,2,2,4,3,3,5,4,1,1,3)
found <- cohen.kappa(cbind(a, b))
linear <- cohen.kappa(cbind(a, b), w = 1 - abs(outer(1:5, 1:5, "-")) / 4)
# psych clips or approximates the weighted standard errors; those come from statsmodels instead.
out$kappa <- list(unweighted = found$kappa, quadratic = found$weighted.kappa,
                  linear = linear$weighted.kappa, se_unweighted = sqrt(found$var.kappa))
out$spearman <- cor(a, b, method = "spearman")

# Variance components with missing cells: Henderson's method 3 by sums of squares of lm().
y <- c(9,2,5,8, 6,1,3,NA, 8,4,NA,8, 7,1,2,6, 10,NA,6,9, 6,2,4,7)
d <- data.frame(y = y, s = factor(rep(1:6, each = 4)), r = factor(rep(1:4, 6)))
d <- d[!is.na(d$y), ]
full <- lm(y ~ s + r, d)
error <- deviance(full); left <- df.residual(full)
s_given_r <- deviance(lm(y ~ r, d)) - error
r_given_s <- deviance(lm(y ~ s, d)) - error
n <- nrow(d); s2 <- error / left
out$components <- list(residual = s2,
                       situation = (s_given_r - 5 * s2) / (n - 4),
                       rater = (r_given_s - 3 * s2) / (n - 6))
cat(toJSON(out, digits = 12, auto_unbox = TRUE, pretty = TRUE))
