# Makes the frozen numbers of tests/stats/test_bradley_terry.py (preferences_r.json).
# Run: Rscript tests/reference/preferences.R > tests/reference/preferences_r.json
# Made with R 4.2.2, BradleyTerry2 1.1.2, sandwich (Debian 12).
suppressMessages({library(BradleyTerry2); library(jsonlite)})
out <- list()
# Each row: first, second, times the first won, the second won, ties.
games <- data.frame(
  first  = c("a", "b", "a", "c", "a", "d", "b", "c", "b", "d", "c", "d"),
  second = c("b", "a", "c", "a", "d", "a", "c", "b", "d", "b", "d", "c"),
  win  = c(9, 5, 11, 4, 12, 3, 8, 6, 10, 4, 7, 6),
  loss = c(4, 7, 3, 9, 2, 10, 5, 6, 3, 8, 4, 5),
  tie  = c(2, 3, 1, 2, 1, 2, 2, 3, 2, 3, 4, 4))

# Without ties: BradleyTerry2, reference a, with and without the order effect.
levels <- c("a", "b", "c", "d")
one <- data.frame(p = factor(games$first, levels), at.home = 1)
two <- data.frame(p = factor(games$second, levels), at.home = 0)
plain <- BTm(cbind(games$win, games$loss), one["p"], two["p"], id = "p", formula = ~ p)
out$plain <- list(estimate = unname(coef(plain)), se = unname(sqrt(diag(vcov(plain)))))
home <- BTm(cbind(games$win, games$loss), one, two, id = "p", formula = ~ p + at.home)
out$order <- list(estimate = unname(coef(home)), se = unname(sqrt(diag(vcov(home)))))

# With ties: the Davidson model as a log-linear model of expected counts, fitted by glm(poisson)
# with one level per ordered pair; its likelihood is proportional to the multinomial one.
long <- do.call(rbind, lapply(seq_len(nrow(games)), function(i) {
  g <- games[i, ]
  x <- matrix(0, 3, 4, dimnames = list(NULL, levels))
  x[1, g$first] <- 1; x[2, g$second] <- 1
  x[3, g$first] <- 0.5; x[3, g$second] <- 0.5
  data.frame(y = c(g$win, g$loss, g$tie), pair = factor(i, levels = 1:12), x,
             nu = c(0, 0, 1), delta = c(0.5, -0.5, 0))
}))
davidson <- glm(y ~ pair + b + c + d + nu + delta, poisson, long)
keep <- c("b", "c", "d", "nu", "delta")
out$davidson <- list(estimate = unname(coef(davidson)[keep]),
                     se = unname(sqrt(diag(vcov(davidson))[keep])))
cat(toJSON(out, digits = 12, auto_unbox = TRUE, pretty = TRUE))
