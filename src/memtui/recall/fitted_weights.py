"""The weights by which recall turns what it found into a probability. Hook path.

Plain constants, written by tests/training/fit_recall.py."""

# The features in the order of `judge.features`, each between 0 and about 1.
FEATURES = ("lexical", "share", "cosine", "overlap", "first", "margin", "length")
INTERCEPT = -6.84
WEIGHTS = (1.35, 1.20, 2.63, 2.52, 3.75, 3.18, 1.75)
# Where these come from: what was fitted, on how much, by which script.
PROVENANCE = (
    "logistic regression, ridge 1, over 9,298 hits of 790 prompts in 18 stores"
    " (sets 610b97915b8a58ec, caf8e4a40b82994f, 0defb38ebb0a34ff), by tests/training/fit_recall.py"
)
