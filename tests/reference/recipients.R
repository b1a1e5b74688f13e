# Makes recipients.json: replies by one model and by several people, each of whom wrote several, and
# participants who got several replies; lmerTest with Satterthwaite's degrees of freedom, emmeans.
# Run: Rscript tests/reference/recipients.R tests/reference/recipients.json (lme4, lmerTest, emmeans)
suppressMessages({library(lmerTest); library(emmeans); library(jsonlite)})
options(contrasts = c("contr.sum", "contr.poly"))
emm_options(lmer.df = "satterthwaite")
i <- 0:119
d <- data.frame(i = i, response = ifelse(i %% 2 == 0, "ai", "human"),
                label = ifelse((i %/% 2) %% 3 == 0, "ai", "human"))
d$replier <- ifelse(d$response == "ai", "model", paste0("h", (i %/% 2) %% 7))
d$several <- as.numeric(d$response == "human")
d$pre <- (i * 13) %% 7
d$y <- ((i * 37) %% 23) / 4 + 0.8 * (d$response == "ai") - 0.5 * (d$label == "ai") +
  d$several * c(2, -2, 1, 0, -1, 3, -3)[1 + (i %/% 2) %% 7] + 0.3 * d$pre + ((i %% 60) * 7) %% 11 / 2
d$person <- paste0("p", i %% 60)
tests <- function(m) {
  a <- anova(m); a <- a[rownames(a) != "pre", ]
  lapply(seq_len(nrow(a)), function(k) list(term = rownames(a)[k], F = a[k, "F value"],
    df = a[k, "NumDF"], df_residual = a[k, "DenDF"], p = a[k, "Pr(>F)"]))
}
effect <- function(m, f) {
  s <- as.data.frame(summary(pairs(emmeans(m, f)), infer = TRUE))
  list(estimate = s$estimate, low = s$lower.CL, high = s$upper.CL, df = s$df)
}
repliers <- lmer(y ~ response * label + (0 + several | replier), d)
persons <- lmer(y ~ pre + response * label + (1 | person), d)
out <- list(repliers = list(tests = tests(repliers), author = effect(repliers, "response")),
            persons = list(tests = tests(persons), author = effect(persons, "response")))
write_json(out, commandArgs(TRUE)[1], digits = 12, auto_unbox = TRUE, pretty = TRUE)
