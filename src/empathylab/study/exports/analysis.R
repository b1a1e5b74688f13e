# Compares the arms of rated studies in R, from the CSV files beside this script.
#
#   Rscript analysis.R           prints the conclusions and writes conclusions_r.csv
#   Rscript analysis.R --brms    also fits each model with brms (slow; needs brms and Stan)
#
# Needs the packages ordinal and lme4 (Debian: r-cran-ordinal r-cran-lme4); with lmerTest also the
# degrees of freedom of linear models.
#
# It follows the rules of `empathylab analyze ratings`: a cumulative link mixed model (logit) of
# scales with points, a linear mixed model of scales without; random effects by the design; all
# raters; p corrected by Holm over the arms. One thing differs: the tests here are Wald's z tests,
# those of EmpathyLab t tests, which matters with few raters or replies.

# Written by EmpathyLab: the points of each dimension by study (none: a scale without points).
studies <- list(
@STUDIES@
)
files <- c(@FILES@)

arguments <- commandArgs(trailingOnly = FALSE)
script <- sub("^--file=", "", grep("^--file=", arguments, value = TRUE))
here <- if (length(script)) dirname(normalizePath(script[1])) else getwd()
with_brms <- "--brms" %in% arguments

missing_packages <- Filter(
  function(name) !requireNamespace(name, quietly = TRUE),
  c("ordinal", "lme4", if (with_brms) "brms")
)
if (length(missing_packages)) {
  quoted <- paste0('"', missing_packages, '"', collapse = ", ")
  cat("Not installed: ", quoted, ". Run in R: install.packages(c(", quoted, "))\n",
      sep = "", file = stderr())
  quit(status = 2)
}

read_table <- function(name) {
  path <- file.path(here, files[[name]])
  if (!file.exists(path)) return(NULL)
  read.csv(path, encoding = "UTF-8", check.names = FALSE, colClasses = "character",
           na.strings = "")
}

of_study <- function(table, study) {
  if (is.null(table) || !"study" %in% names(table)) return(table)
  table[table$study == study, , drop = FALSE]
}

# People's arm, else the first arm of the study.
reference_arm <- function(rated, arms) {
  if ("human" %in% rated) return("human")
  listed <- if (is.null(arms)) NULL else arms[arms$arm %in% rated, , drop = FALSE]
  people <- if (is.null(listed$kind)) NULL else listed$arm[listed$kind %in% "human"]
  c(people, listed$arm, sort(rated))[1]
}

# Which random effects the design needs, the richest first.
random_effects <- function(data) {
  replies <- unique(data[c("rater", "arm", "situation", "reply")])
  count <- function(values, by) tapply(values, by, function(x) length(unique(x)))
  several <- function(counts) mean(counts > 1)
  by_rater <- count(replies$arm, replies$rater)
  active <- table(replies$rater)[names(by_rater)] > 1
  seen_several <- if (any(active)) several(by_rater[active]) else 0
  per_arm <- nrow(replies) / nrow(unique(replies[c("rater", "arm")]))
  arms <- length(unique(replies$arm))
  raters <- "(1 | rater)"
  if (seen_several > 0.1 && per_arm >= 1.5) {
    fewest <- min(count(replies$rater, replies$arm))
    simple <- "(1 | rater) + (1 | arm_rater)"
    raters <- if (fewest >= 5 * arms * (arms + 1) / 2) c("(1 + arm | rater)", simple) else simple
  }
  rest <- "(1 | situation)"
  shared <- several(count(replies$rater, replies$reply))
  if (shared > 0.1 && any(count(replies$arm, replies$situation) > 1)) {
    rest <- paste(rest, "+ (1 | arm_situation)")
  }
  paste(raters, "+", rest)
}

# Slopes that these ratings cannot show: a standard deviation of 0, or correlations of 1.
degenerate <- function(model) {
  if (inherits(model, "clmm") && !isTRUE(model$optRes$convergence == 0)) return(TRUE)
  covariance <- if (inherits(model, "clmm")) ordinal::VarCorr(model) else lme4::VarCorr(model)
  any(vapply(covariance, function(part) {
    correlations <- attr(part, "correlation")
    nrow(part) > 1 &&
      (any(attr(part, "stddev") < 1e-3) || any(abs(correlations[lower.tri(correlations)]) > 0.999))
  }, logical(1)))
}

fit <- function(random, data, ordered) {
  formula <- as.formula(paste("rating ~ arm +", random))
  if (!ordered) {
    package <- if (requireNamespace("lmerTest", quietly = TRUE)) "lmerTest" else "lme4"
    return(getExportedValue(package, "lmer")(formula, data))
  }
  data$rating <- factor(data$rating, levels = sort(unique(data$rating)), ordered = TRUE)
  if (nlevels(data$rating) == 2) return(lme4::glmer(formula, data, family = binomial))
  environment(formula) <- environment()
  ordinal::clmm(formula, data = data, control = ordinal::clmm.control(gradTol = 1e-6))
}

fitted_model <- function(data, ordered) {
  for (random in random_effects(data)) {
    model <- tryCatch(suppressWarnings(fit(random, data, ordered)), error = function(problem) NULL)
    slopes <- grepl("1 + arm", random, fixed = TRUE)
    if (!is.null(model) && !(slopes && degenerate(model))) {
      return(list(model = model, formula = paste("rating ~ arm +", random)))
    }
  }
  NULL
}

conclusions <- function(data, study, dimension, points) {
  ordered <- length(points) > 0
  found <- fitted_model(data, ordered)
  if (is.null(found)) {
    cat("  ", dimension, ": no mixed model could be fitted\n", sep = "")
    return(NULL)
  }
  estimates <- coef(summary(found$model))
  rows <- paste0("arm", levels(data$arm)[-1])
  estimate <- estimates[rows, "Estimate"]
  se <- estimates[rows, "Std. Error"]
  df <- if ("df" %in% colnames(estimates)) estimates[rows, "df"] else Inf
  p <- 2 * pt(-abs(estimate / se), df)
  adjusted <- p.adjust(p, "holm")
  kind <- ifelse(adjusted >= 0.05, "inconclusive", ifelse(estimate > 0, "better", "worse"))
  half <- qt(0.975, df) * se
  data.frame(
    study = study, dimension = dimension, arm = levels(data$arm)[-1],
    reference = levels(data$arm)[1], kind = kind, estimate = estimate, low = estimate - half,
    high = estimate + half, unit = if (ordered) "log-odds" else "points", p = p,
    p_adjusted = adjusted, n = nrow(data), formula = found$formula, row.names = NULL
  )
}

bayesian <- function(row, data, ordered) {
  if (ordered) data$rating <- factor(data$rating, ordered = TRUE)
  family <- if (ordered) brms::cumulative("logit") else gaussian()
  model <- brms::brm(as.formula(row$formula), data, family = family, refresh = 0, seed = 1)
  print(summary(model))
}

all_ratings <- read_table("ratings")
all_raters <- read_table("raters")
all_arms <- read_table("arms")
results <- list()
for (study in names(studies)) {
  ratings <- of_study(all_ratings, study)
  if (!"rating" %in% names(ratings) || !nrow(ratings)) next
  raters <- of_study(all_raters, study)
  if (!is.null(raters$kind)) {
    people <- raters$rater[raters$kind == "person"]
    ratings <- ratings[ratings$rater %in% people, , drop = FALSE]
  }
  ratings$rating <- as.numeric(ratings$rating)
  used <- ratings[!is.na(ratings$rating) & !is.na(ratings$arm) & !is.na(ratings$situation), ]
  rated <- unique(used$arm)
  cat(study, "\n", sep = "")
  if (length(rated) < 2) {
    cat("  one arm, so nothing is compared\n")
    next
  }
  reference <- reference_arm(rated, of_study(all_arms, study))
  used$arm <- factor(used$arm, levels = c(reference, sort(setdiff(rated, reference))))
  own <- paste(used$arm, used$situation, sep = "\x1f")
  used$reply <- if (is.null(used$response)) own else ifelse(is.na(used$response), own, used$response)
  used$arm_rater <- interaction(used$arm, used$rater, drop = TRUE)
  used$arm_situation <- interaction(used$arm, used$situation, drop = TRUE)
  used$rater <- factor(used$rater)
  used$situation <- factor(used$situation)
  dimensions <- studies[[study]]
  for (dimension in intersect(names(dimensions), unique(used$dimension))) {
    data <- droplevels(used[used$dimension == dimension, ])
    if (nlevels(data$arm) < 2 || length(unique(data$rating)) < 2) next
    points <- dimensions[[dimension]]
    rows <- conclusions(data, study, dimension, points)
    if (is.null(rows)) next
    for (number in seq_len(nrow(rows))) {
      row <- rows[number, ]
      cat(sprintf("  %s: %s compared with %s: %s, %+.3f [%+.3f, %+.3f] %s, p Holm %.3g\n",
                  row$dimension, row$arm, row$reference, row$kind, row$estimate, row$low,
                  row$high, row$unit, row$p_adjusted))
    }
    if (with_brms) bayesian(rows[1, ], data, length(points) > 0)
    results[[length(results) + 1]] <- rows
  }
}
if (length(results)) {
  write.csv(do.call(rbind, results), file.path(here, "conclusions_r.csv"), row.names = FALSE)
} else {
  cat("There are no ratings of several arms to compare.\n")
}
