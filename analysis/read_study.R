# Reads the outcome table of a dsqa study, one row per run, with the right types, and fits a first model.
#   Rscript analysis/read_study.R TABLE     TABLE: outcomes.csv, outcomes.parquet, or a study's folder
#   source("analysis/read_study.R"); runs <- read_runs("runs/demo/export/outcomes.csv")
# Base R is enough for the CSV; a .parquet needs the package 'arrow'. What each column means: columns.csv, which
# dsqa export STUDY --to columns  writes, or docs/columns.md of dsqa.

# Column types: factor, character, integer, numeric (double), logical. An empty field of the CSV is NA.
TYPES <- c(
  study = "factor",
  question_id = "factor",
  category = "factor",
  level = "factor",
  condition_id = "factor",
  endpoint = "factor",
  model = "factor",
  temperature = "numeric",
  run = "integer",
  prompt_hash = "character",
  status = "factor",
  finish_reason = "factor",
  error_class = "factor",
  retries = "integer",
  words_in = "integer",
  tokens_in = "integer",
  words_out = "integer",
  tokens_out = "integer",
  tokens_total = "integer",
  tokens_source = "factor",
  word_ratio = "numeric",
  token_ratio = "numeric",
  jaccard_first = "numeric",
  jaccard_mean = "numeric",
  jaccard_truth = "numeric",
  seconds = "numeric",
  completion = "integer",
  accuracy = "integer",
  executability = "integer",
  executability_repository = "integer",
  score = "numeric",
  execution = "factor",
  execution_detail = "character",
  isolation = "factor",
  near_limit = "logical",
  environment = "factor",
  reruns = "integer",
  rerun_agreement = "integer",
  flaky = "factor",
  extraction = "character",
  execution_key = "character",
  figures = "integer",
  artefacts = "character",
  answer = "character",
  answer_source = "factor",
  answer_status = "factor",
  answer_share = "numeric",
  answer_convention = "factor",
  answer_conflict = "logical",
  answer_key = "character",
  text_hash = "character",
  result_key = "character"
)

# Order of a factor's levels; of a factor not named here, the order in which they appear in the table.
LEVELS <- list(
  level = c(
    "easy", "medium", "hard"
  ),
  status = c(
    "answered", "truncated", "refused", "empty", "filtered", "failed"
  ),
  answer_status = c(
    "matched", "partial", "mismatched", "unparsed", "unmarked"
  ),
  flaky = c(
    "no", "code", "machine"
  )
)

read_runs <- function(path) {
  if (dir.exists(path)) {
    known <- file.path(path, c("outcomes.csv", "export/outcomes.csv", "outcomes.parquet"))
    found <- known[file.exists(known)]
    if (!length(found)) stop("no outcome table in ", path, "; 'dsqa export' writes one", call. = FALSE)
    path <- found[1]
  }
  if (grepl("\\.parquet$", path)) {
    if (!requireNamespace("arrow", quietly = TRUE)) {
      stop("a .parquet needs the R package 'arrow'; or write a CSV: dsqa export STUDY --to csv", call. = FALSE)
    }
    runs <- as.data.frame(arrow::read_parquet(path))
  } else {
    # Everything as text first: columns may come in any order, and more of them may have been added.
    runs <- read.csv(path, colClasses = "character", na.strings = "", check.names = FALSE, encoding = "UTF-8")
    # The quote that keeps a spreadsheet from taking a text for a formula.
    runs[] <- lapply(runs, function(x) sub("^'(?=[=+@\\t\\r-])", "", x, perl = TRUE))
  }
  missing <- setdiff(names(TYPES), names(runs))
  if (length(missing)) stop(path, " has no column ", paste(missing, collapse = ", "), call. = FALSE)
  for (name in names(TYPES)) runs[[name]] <- typed(runs[[name]], TYPES[[name]], LEVELS[[name]])
  runs
}

typed <- function(x, type, levels) {
  if (type == "factor") {
    seen <- if (is.factor(x)) levels(x) else unique(x[!is.na(x)])
    return(factor(as.character(x), levels = c(levels, setdiff(seen, levels))))
  }
  switch(type,
    character = as.character(x), integer = as.integer(x), numeric = as.numeric(x), logical = as.logical(x)
  )
}

# The obvious first model: does the mean score depend on the condition, question by question? Runs of a cell are
# repeats and not independent units, so the model is of cell means, with questions as blocks.
first_model <- function(runs) {
  cells <- droplevels(aggregate(score ~ question_id + condition_id, data = runs, FUN = mean))
  blocks <- c("question_id", "condition_id")
  blocks <- blocks[vapply(cells[blocks], nlevels, 1L) > 1]
  if (length(blocks) < 2) blocks <- setdiff(blocks, "question_id")
  formula <- if (length(blocks)) reformulate(blocks, "score") else score ~ 1
  eval(bquote(lm(.(formula), data = cells)))
}

show_first_model <- function(runs) {
  cat(nrow(runs), "runs,", nlevels(droplevels(runs$question_id)), "questions,",
      nlevels(droplevels(runs$condition_id)), "conditions\n\n")
  cat("Status of the runs:\n")
  print(table(droplevels(runs$status)))
  if (all(is.na(runs$score))) {
    cat("No run has a score, so there is no model: the questions have no ground truth.\n")
    return(invisible(NULL))
  }
  model <- first_model(runs)
  print(summary(model))
  terms <- grep("^condition_id", names(coef(model)), value = TRUE)
  if (length(terms) && df.residual(model) > 0) {
    cat("Difference from the first condition, in score points, with 95 % intervals:\n")
    print(cbind(difference = coef(model)[terms], confint(model, terms)))
  }
  invisible(model)
}

if (!interactive() && sys.nframe() == 0L) {
  arguments <- commandArgs(trailingOnly = TRUE)
  if (length(arguments) != 1) stop("usage: Rscript read_study.R TABLE", call. = FALSE)
  show_first_model(read_runs(arguments[1]))
}
