# Makes lmm.json: small simulated studies and what lme4, lmerTest and emmeans say of them.
# Run in this folder: Rscript lmm.R   (R 4.2.2, lme4 1.1-31, lmerTest 3.1-3, emmeans 1.8.4-1,
# jsonlite 1.8.4). The seeds are below; the data go into the file, so the tests need no R.
suppressMessages({library(lme4); library(lmerTest); library(emmeans); library(jsonlite)})

exact <- lmerControl(
  optimizer = "nloptwrap", calc.derivs = FALSE, check.conv.singular = "ignore",
  optCtrl = list(xtol_abs = 1e-11, xtol_rel = 0, ftol_abs = 1e-13, ftol_rel = 0, maxeval = 5000)
)
in_order <- function(x) factor(x, levels = unique(x))
names_of <- function(letter, numbers) paste0(letter, numbers)

crossed <- local({  # 24 raters, 15 situations, 7 of 10 pairs, three sources, a covariate
  set.seed(611)
  d <- expand.grid(situation = 1:15, rater = 1:24)
  d <- d[runif(nrow(d)) < 0.7, ]
  d$source <- c("human", "small", "large")[1 + (d$situation + d$rater) %% 3]
  d$length <- round(rnorm(nrow(d), 2, 1), 3)
  d$rating <- round(3 + 0.5 * (d$source == "large") - 0.3 * (d$source == "small") +
    0.2 * d$length + rnorm(24, 0, 0.7)[d$rater] + rnorm(15, 0, 0.4)[d$situation] +
    rnorm(nrow(d)), 3)
  d
})
three <- local({  # 20 raters, 12 situations, 8 writers, all crossed, 500 ratings drawn
  set.seed(612)
  d <- data.frame(rater = sample(20, 500, TRUE), situation = sample(12, 500, TRUE),
                  writer = sample(8, 500, TRUE))
  d$valence <- c("positive", "negative")[1 + d$situation %% 2]
  d$rating <- round(50 + 6 * (d$valence == "positive") + rnorm(20, 0, 9)[d$rater] +
    rnorm(12, 0, 5)[d$situation] + rnorm(8, 0, 7)[d$writer] + rnorm(500, 0, 15), 2)
  d
})
nested <- local({  # 10 teams of 4 to 6 raters, 5 ratings each
  set.seed(613)
  team <- rep(1:10, times = sample(4:6, 10, TRUE))
  d <- data.frame(team = rep(team, each = 5))
  d$rater <- rep(sequence(rle(team)$lengths), each = 5)
  d$source <- rep(c("human", "model"), length.out = nrow(d))
  own <- as.integer(interaction(d$team, d$rater, drop = TRUE))
  d$rating <- round(4 + 0.4 * (d$source == "model") + rnorm(10, 0, 0.6)[d$team] +
    rnorm(max(own), 0, 0.5)[own] + rnorm(nrow(d), 0, 0.8), 3)
  d
})
singular <- local({  # situations do not differ at all
  set.seed(614)
  d <- expand.grid(situation = 1:10, rater = 1:16)
  d$source <- c("human", "model")[1 + d$rater %% 2]
  d$rating <- rnorm(16, 0, 0.5)[d$rater] + rnorm(nrow(d))
  d$rating <- d$rating - ave(d$rating, d$situation) * 0.9
  d$rating <- round(d$rating, 3)
  d
})
lee <- local({  # 6 domains of 5 posts, 4 sources, 60 raters who rate 8 responses each, 1 to 5
  set.seed(615)
  cells <- expand.grid(source = c("human", "gpt", "llama", "mistral"), number = 1:5,
    domain = c("parenting", "relationships", "workplace", "anger", "anxiety", "covid"),
    stringsAsFactors = FALSE)
  cells$post <- paste0(cells$domain, cells$number)
  d <- do.call(rbind, lapply(1:60, function(r) cbind(rater = r, cells[sample(120, 8), ])))
  d$number <- NULL
  post <- as.integer(in_order(d$post))
  latent <- 3 + 0.5 * (d$source != "human") + 0.3 * (d$source == "gpt") +
    0.4 * (d$domain == "anxiety" & d$source == "gpt") + rnorm(60, 0, 0.6)[d$rater] +
    rnorm(30, 0, 0.3)[post] + rnorm(nrow(d), 0, 0.7)
  d$rating <- pmin(5, pmax(1, round(latent)))
  d
})
sets <- list(crossed = crossed, three = three, nested = nested, singular = singular, lee = lee)
letters_of <- c(rater = "r", situation = "s", writer = "w", team = "t")
sets <- lapply(sets, function(d) {
  for (name in intersect(names(letters_of), names(d)))
    d[[name]] <- names_of(letters_of[[name]], d[[name]])
  for (name in names(d)) if (is.character(d[[name]])) d[[name]] <- in_order(d[[name]])
  d
})

rows <- function(table) lapply(seq_len(nrow(table)), function(i) as.list(table[i, ]))
described <- function(tag, set, formula, reml = TRUE, means = NULL, by = NULL) {
  m <- lmerTest::lmer(as.formula(formula), sets[[set]], REML = reml, control = exact)
  table <- coef(summary(m))
  v <- as.data.frame(VarCorr(m))
  a <- anova(m, type = "III")
  out <- list(
    tag = tag, set = set, formula = formula, reml = reml, n = nobs(m),
    coefficients = setNames(lapply(seq_len(nrow(table)), function(i) list(
      estimate = table[i, 1], se = table[i, 2], df = table[i, 3], t = table[i, 4],
      p = table[i, 5])), rownames(table)),
    sd = as.list(setNames(v$sdcor, v$grp)),
    criterion = unname(if (reml) REMLcrit(m) else deviance(m)),
    log_likelihood = as.numeric(logLik(m)), aic = AIC(m), bic = BIC(m),
    modes = lapply(ranef(m, condVar = FALSE),
                   function(r) as.list(setNames(r[[1]], rownames(r)))),
    terms = setNames(lapply(seq_len(nrow(a)), function(i) list(
      f = a[i, "F value"], df = a[i, "NumDF"], df_residual = a[i, "DenDF"],
      p = a[i, "Pr(>F)"])), rownames(a))
  )
  if (!is.null(means)) {
    e <- emmeans(m, means, by = by, lmer.df = "satterthwaite")
    out$means <- rows(as.data.frame(e))
    out$contrasts <- rows(as.data.frame(pairs(e, adjust = "holm")))
    out$contrast_limits <- rows(as.data.frame(confint(pairs(e), adjust = "none")))
  }
  out
}
compared <- function(tag, set, smaller, larger) {
  fit <- function(f) lmer(as.formula(f), sets[[set]], REML = FALSE, control = exact)
  a <- anova(fit(smaller), fit(larger))
  list(tag = tag, set = set, smaller = smaller, larger = larger, chi_square = a[2, "Chisq"],
       df = a[2, "Df"], p = a[2, "Pr(>Chisq)"])
}

two <- "rating ~ source + length + (1|rater) + (1|situation)"
fits <- list(
  described("crossed_reml", "crossed", two, means = "source"),
  described("crossed_ml", "crossed", two, reml = FALSE),
  described("crossed_slopes", "crossed",
            "rating ~ source * length + (1|rater) + (1|situation)", means = "source"),
  described("one_group", "crossed", "rating ~ source + (1|rater)"),
  described("three_reml", "three",
            "rating ~ valence + (1|rater) + (1|situation) + (1|writer)"),
  described("three_ml", "three", "rating ~ valence + (1|rater) + (1|situation) + (1|writer)",
            reml = FALSE),
  described("nested", "nested", "rating ~ source + (1|team/rater)"),
  described("singular_reml", "singular", "rating ~ source + (1|rater) + (1|situation)"),
  described("singular_ml", "singular", "rating ~ source + (1|rater) + (1|situation)",
            reml = FALSE),
  described("all_singular", "singular", "rating ~ source + (1|situation)"),
  described("lee", "lee", "rating ~ source * domain + (1|rater) + (1|post)",
            means = "source"),
  described("lee_by_domain", "lee", "rating ~ source * domain + (1|rater) + (1|post)",
            means = "source", by = "domain")
)
comparisons <- list(
  compared("drop_interaction", "lee", "rating ~ source + domain + (1|rater) + (1|post)",
           "rating ~ source * domain + (1|rater) + (1|post)"),
  compared("drop_source", "crossed", "rating ~ length + (1|rater) + (1|situation)", two),
  compared("drop_group", "crossed", "rating ~ source + length + (1|rater)", two)
)
made_by <- sprintf("lmm.R with %s, lme4 %s, lmerTest %s, emmeans %s", R.version.string,
  packageVersion("lme4"), packageVersion("lmerTest"), packageVersion("emmeans"))
write(toJSON(list(made_by = made_by, sets = lapply(sets, as.list), fits = fits,
                  comparisons = comparisons),
             auto_unbox = TRUE, digits = 10, na = "null"), "lmm.json")
