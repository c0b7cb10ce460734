"""The style sheet of the application, which is parsed again only when that gives something else."""

from textual.css.stylesheet import Stylesheet


class KeptStylesheet(Stylesheet):
    """A style sheet that keeps its rules while its variables stay the same. Textual sets the same variables and parses
    all styles again whenever a screen is shown for the first time: a tenth of the start of memtui."""

    def __init__(self, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._current = variables
        self._changed = False

    def set_variables(self, variables: dict[str, str]) -> None:
        """Set the variables of the theme, unless they are the same."""
        if variables != self._current:
            self._current = variables
            self._changed = True
            super().set_variables(variables)

    def reparse(self) -> None:
        """Parse all styles again if the variables have changed. What was added else is parsed when it is needed."""
        if self._changed:
            super().reparse()
            self._changed = False
