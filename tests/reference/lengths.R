# Makes lengths.json: lengths of replies of two respondents, what base R says of them, and how many
# pairs MatchIt (4.5.1) finds by coarsened exact matching with bands of ratio 1.25.
# Run: Rscript tests/reference/lengths.R > tests/reference/lengths.json
suppressPackageStartupMessages(library(MatchIt))
set.seed(20240613)
a <- pmax(2, round(rlnorm(120, log(24), 0.45)))
b <- pmax(2, round(rlnorm(150, log(31), 0.30)))
describe <- function(x) {
  ci <- t.test(x)$conf.int
  q <- quantile(x, c(0.05, 0.25, 0.5, 0.75, 0.95), type = 7, names = FALSE)
  sprintf('{"n": %d, "mean": %.10f, "low": %.10f, "high": %.10f, "sd": %.10f, "quantiles": [%s]}',
          length(x), mean(x), ci[1], ci[2], sd(x), paste(sprintf("%.10f", q), collapse = ", "))
}
frame <- data.frame(treat = rep(c(0, 1), c(length(a), length(b))), words = c(a, b))
cuts <- 1.25^(0:40)
matched <- matchit(treat ~ words, frame, method = "cem", k2k = TRUE,
                   cutpoints = list(words = cuts[cuts < max(frame$words) * 1.3]))
pairs <- sum(matched$weights[frame$treat == 1] > 0)
smd <- abs(mean(a) - mean(b)) / sqrt((var(a) + var(b)) / 2)
list_of <- function(x) paste(x, collapse = ", ")
cat(sprintf('{"a": [%s],\n "b": [%s],\n', list_of(a), list_of(b)))
cat(sprintf(' "a_described": %s,\n "b_described": %s,\n', describe(a), describe(b)))
cat(sprintf(' "pairs": %d,\n "imbalance": %.10f}\n', pairs, smd))
