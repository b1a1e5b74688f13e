# Makes anova.json: factorial analyses of variance by car::Anova, and intervals of partial eta
# squared by inverting pf with a noncentrality, on a small made-up study of unequal cells.
# Run: Rscript tests/reference/anova.R tests/reference/anova.json (car, jsonlite; R 4.2.2, car 3.1-1)
# With a second argument, the published recipients file, its numbers are printed.
suppressMessages({library(car); library(jsonlite)})
options(contrasts = c("contr.sum", "contr.poly"))
tested <- function(model) {
  error <- df.residual(model)
  rows <- lapply(list(list("II", Anova(model, type = 2)), list("III", Anova(model, type = 3))), function(one) {
    table <- one[[2]]
    names <- setdiff(rownames(table), c("Residuals", "(Intercept)"))
    lapply(names, function(n) {
      f <- table[n, "F value"]; df <- table[n, "Df"]; count <- df + error + 1
      end <- function(p) if (pf(f, df, error) <= p) 0 else
        uniroot(function(l) pf(f, df, error, ncp = l) - p, c(0, 20 * f * df + 50), tol = 1e-10)$root
      list(term = n, type = one[[1]], F = f, df = df, df_residual = error, p = table[n, "Pr(>F)"],
           partial_eta2 = f * df / (f * df + error), low = end(.975) / (end(.975) + count),
           high = end(.025) / (end(.025) + count))
    })
  })
  do.call(c, rows)
}
i <- 0:89
d <- data.frame(a = c("x", "y", "z")[1 + (i * i) %% 3 + (i %% 7 == 0)], b = c("p", "q")[1 + (i %% 5 < 2)],
                c = i %% 11)
d$y <- (i * 37) %% 23 + 3 * (d$a == "y") - 2 * (d$b == "q") * (d$a == "x") + 0.4 * d$c
out <- list(factorial = tested(lm(y ~ a * b, d)), covariate = tested(lm(y ~ a * b + c, d)))
write_json(out, commandArgs(TRUE)[1], digits = 12, auto_unbox = TRUE, pretty = TRUE)
if (length(commandArgs(TRUE)) > 1) {
  r <- read.csv(commandArgs(TRUE)[2])
  cat(toJSON(lapply(c("feelheard", "understoodme", "connection"), function(v)
    tested(lm(reformulate("response * label", v), r))), digits = 10, auto_unbox = TRUE, pretty = FALSE))
}
