# Prints the numbers of tests/stats/mixed/ordinal/test_proportional_odds.py on slopes.csv.
# Run: Rscript tests/reference/proportional_odds.R tests/reference (ordinal 2022.11-16, R 4.2.2)
suppressPackageStartupMessages(library(ordinal))
d <- read.csv(file.path(commandArgs(TRUE)[1], "slopes.csv"), stringsAsFactors = TRUE)
d$rating <- factor(d$rating)
print(nominal_test(clm(rating ~ arm + x, data = d)), digits = 10)
print(coef(summary(clm(rating ~ x, nominal = ~ arm, data = d))), digits = 8)
print(nominal_test(clm(rating ~ arm + x, data = d, link = "probit")), digits = 10)
