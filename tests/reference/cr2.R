# Makes cr2.json: CR2 standard errors and Satterthwaite degrees of freedom with whole matrices, in
# base R, after Pustejovsky & Tipton (2018), equations 5 to 7 and 11, with an identity working model.
# Run: Rscript tests/reference/cr2.R tests/reference (needs jsonlite; made with R 4.2.2)
suppressMessages(library(jsonlite))
folder <- commandArgs(TRUE)[1]
root <- function(m) {
  e <- eigen((m + t(m)) / 2)
  keep <- e$values > 1e-9
  e$vectors[, keep, drop = FALSE] %*%
    (t(e$vectors[, keep, drop = FALSE]) / sqrt(e$values[keep]))
}
cr2 <- function(x, y, cluster, contrast, w = rep(1, length(y))) {
  n <- nrow(x); W <- diag(w); M <- solve(t(x) %*% W %*% x); H <- x %*% M %*% t(x) %*% W
  e <- y - H %*% y; IH <- diag(n) - H
  meat <- 0; G <- NULL
  for (one in unique(cluster)) {
    r <- which(cluster == one)
    A <- root(IH[r, , drop = FALSE] %*% t(IH[r, , drop = FALSE]))
    s <- t(x[r, , drop = FALSE]) %*% W[r, r, drop = FALSE] %*% A %*% e[r]
    meat <- meat + s %*% t(s)
    G <- cbind(G, t(IH[r, , drop = FALSE]) %*% A %*% W[r, r, drop = FALSE] %*%
                 x[r, , drop = FALSE] %*% M %*% contrast)
  }
  V <- M %*% meat %*% M; P <- t(G) %*% G
  list(estimate = sum(contrast * (M %*% t(x) %*% W %*% y)),
       se = sqrt(drop(t(contrast) %*% V %*% contrast)), df = sum(diag(P))^2 / sum(P^2))
}
arms <- function(file) {
  d <- read.csv(file.path(folder, file))
  d <- d[d$arm %in% c("human", "alpha"), ]
  cr2(cbind(1, d$arm == "alpha"), as.numeric(d$rating == 3), d$rater, c(0, 1))
}
means <- function(arm) {
  d <- read.csv(file.path(folder, "rated_arms.csv"))
  d <- d[d$arm %in% c("human", arm), ]
  cr2(cbind(1, d$arm == arm), d$rating, d$rater, c(0, 1))
}
i <- 0:59
d <- data.frame(rater = (i * i) %% 13, words = log(10 + (i * 37) %% 90), own = i %% 3 == 0)
y <- 1 + (i * i * 7 + d$rater * 3) %% 5
x <- cbind(1, d$words, d$own)
out <- list(mean_alpha = means("alpha"), mean_beta = means("beta"),
            between = arms("rated_arms.csv"), within = arms("paired_arms.csv"),
            words = cr2(x, y, d$rater, c(0, 1, 0)), own = cr2(x, y, d$rater, c(0, 0, 1)),
            weighted = cr2(x, y, d$rater, c(0, 1, 0), 1 + (i %% 4)))
write_json(out, file.path(folder, "cr2.json"), digits = 12, auto_unbox = TRUE, pretty = TRUE)
