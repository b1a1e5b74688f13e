# Numbers for tests/style/test_clustered.py and test_differences.py: two-way cluster-robust
# standard errors, a paired and a Welch t test, on a small table made by a rule (no data set).
# Run: Rscript tests/reference/style_clusters.R
library(sandwich)
i <- 0:59
d <- data.frame(
  rater = i %% 12,
  situation = (7 * i) %% 15,
  words = 10 + (i * i) %% 23,
  marks = (i * 5 + (i %/% 7)) %% 9
)
d$rating <- 1 + (3 * i + d$marks + (i %% 12) %/% 3) %% 5
d$z <- as.numeric(scale(d$marks))
for (model in list(rating ~ z, rating ~ z + log1p(words))) {
  fit <- lm(model, d)
  two <- vcovCL(fit, cluster = ~ situation + rater, type = "HC1")
  one <- vcovCL(fit, cluster = ~ situation, type = "HC1")
  print(c(coef(fit)["z"], two = sqrt(two["z", "z"]), one = sqrt(one["z", "z"])), digits = 12)
}
a <- c(3, 5, 4, 8, 6, 7, 2, 9)
b <- c(2, 4, 5, 5, 3, 6, 2, 4)
paired <- t.test(a, b, paired = TRUE)
welch <- t.test(a, b[1:6])
print(c(paired$p.value, paired$conf.int), digits = 12)
print(c(welch$p.value, welch$conf.int), digits = 12)
