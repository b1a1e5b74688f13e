# Makes the frozen numbers of tests/stats/clusters/test_robust.py and test_judge_bias.py.
# Run: Rscript tests/reference/clusters.R > tests/reference/clusters_r.json
# Made with R 4.2.2 and sandwich (Debian 12).
suppressMessages({library(sandwich); library(jsonlite)})
i <- 0:59
d <- data.frame(rater = i %% 12, situation = i %/% 4, words = 10 + (i * 37) %% 90,
                own = as.integer(i %% 3 == 0))
d$people <- 1 + (i * i * 7 + d$rater * 3 + d$situation * d$situation) %% 5
d$judge <- pmin(5, d$people + (i * i + d$rater) %% 3 - (d$words > 50) + d$own)
d$apart <- d$judge - d$people
fit <- function(formula, cluster) {
  m <- lm(formula, d)
  v <- vcovCL(m, cluster = cluster, type = "HC0", cadjust = TRUE)
  list(estimate = unname(coef(m)), se = unname(sqrt(diag(v))))
}
out <- list(sandwich = as.character(packageVersion("sandwich")),
            length_two_way = fit(apart ~ log(words), ~ rater + situation),
            length_one_way = fit(apart ~ log(words), ~ situation),
            own_two_way = fit(apart ~ own, ~ rater + situation),
            mean_two_way = fit(people ~ 1, ~ rater + situation))
cat(toJSON(out, digits = 12, auto_unbox = TRUE, pretty = TRUE))
