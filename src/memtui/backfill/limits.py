"""The limit that the command line names before it loads what fills the inbox."""

# Drafts that one backfill offers, unless a person asks for more.
MOST = 20
