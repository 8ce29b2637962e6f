"""Named coordinates of the residual stream, for models whose weights are set by hand."""


class Subspaces:
    """Subspaces of a vector space by name, side by side in the order given: name to slice of coordinates.

    >>> at = Subspaces(NUM=1, IS_BOS=1, SUM=10)
    >>> at["SUM"], at.width
    (slice(2, 12, None), 12)
    """

    def __init__(self, **sizes: int) -> None:
        self._slices: dict[str, slice] = {}
        self.width = 0
        for name, size in sizes.items():
            self._slices[name] = slice(self.width, self.width + size)
            self.width += size

    def __getitem__(self, name: str) -> slice:
        return self._slices[name]
