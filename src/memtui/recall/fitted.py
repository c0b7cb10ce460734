"""The weights by which recall turns what it found into a probability. Hook path.

Plain constants, written by tests/training/fit_recall.py.
"""

# The features in the order of `judge.features`, each between 0 and about 1.
FEATURES = ("lexical", "share", "cosine", "overlap", "first", "margin", "length")
INTERCEPT = -6.72
WEIGHTS = (1.43, 1.35, 2.73, 1.07, 3.36, 3.52, 1.77)
# Where these come from: what was fitted, on how much, by which script.
PROVENANCE = (
    "logistic regression, ridge 1, over 6,292 hits of 534 prompts in 14 stores"
    " (sets 0aa593a40289d2c9, 0defb38ebb0a34ff), by tests/training/fit_recall.py"
)
