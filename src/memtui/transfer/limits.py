"""The limit that the command line names before it loads what reads a source."""

# Drafts of one import, unless a person asks for more: nobody reviews a thousand at once.
MOST = 200
