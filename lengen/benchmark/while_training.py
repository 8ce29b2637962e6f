"""Frozen problems of the benchmark, put to a module of anybody's while it trains."""

from collections.abc import Callable

from lightning import LightningModule, Trainer

from lengen.benchmark.problems_and_answerers import Answerer, evaluate, problems
from lengen.benchmark.scoring import measures
from lengen.benchmark.tasks import task_of
from lengen.callbacks.accuracy_grid import Asking
from lengen.models import Transformer
from lengen.models.foreign import answering
from lengen.results.records import Grid
from lengen.trained_model import Model, load

LOGGED = ("in_range", "reach", "area")
"""Headline numbers (`lengen.benchmark.Measures`)."""


class BenchmarkScores(Asking):
    """Puts the frozen problems of a task to the module as plain text; ``grid`` holds the counts.

    Logged are ``<task>/in_range``, ``<task>/reach`` and ``<task>/area``. The module keeps its own data, vocabulary and
    tokenizer.

    Args:
        task: A task of the benchmark.
        size: Its longest trained length, which decides the problems; None: that of the papers.
        answer: From the module to a function from prompts such as ``12+34=`` to as many texts, for example ``lambda
            module: lengen.from_transformers(module.model, tokenizer)``, or `lengen.character_model`. None: the method
            ``answer(prompts)`` of the module; a `SequenceModule` needs none.
        every_n_steps: Also ask after every so many steps; 0: only at the end. Without it, what another callback of the
            Trainer monitors is asked at every evaluation.

    Raises:
        TaskError: No such task, or size.

    Example:
        >>> import lengen
        >>> measured = lengen.BenchmarkScores("copy", size=6)
        >>> module = lengen.train("copy", digits=6, steps=2, batch=4, callbacks=measured)
        >>> sorted(measured.logged())
        ['copy/area', 'copy/in_range', 'copy/reach']
    """

    def __init__(
        self, task: str, size: int | None = None, answer: Callable[[LightningModule], Answerer] | None = None, *,
        every_n_steps: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(every_n_steps)
        self.task, known = task, task_of(task)
        self.size = known.papers if size is None else size
        known.lengths(self.size)
        self.answer = answer
        self.grid = Grid(("length", "count"))

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Ask one problem, so that a module that cannot answer is refused before anything is trained."""
        with answering(pl_module):
            evaluate(self._answerer(pl_module), self.task, problems=problems(self.task, self.size)[:1])

    def ask(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.grid = evaluate(self._answerer(pl_module), self.task, self.size)

    def _answerer(self, module: LightningModule) -> Answerer | Model:
        if self.answer is not None:
            try:
                return self.answer(module)
            except TypeError as error:
                fault = "expected a function of the module that returns one from prompts to texts"
                raise TypeError(f"BenchmarkScores(answer=): {fault}, as lambda module: ...; found: {error}") from error
        if callable(method := getattr(module, "answer", None)):
            return method  # type: ignore[no-any-return]
        if isinstance(getattr(module, "model", None), Transformer):
            return load(module)  # type: ignore[arg-type]
        fault = f"{type(module).__name__}: expected a method answer(prompts) that returns as many texts"
        raise TypeError(f"{fault}, or BenchmarkScores(..., answer=) with a function that makes one of the module")

    def logged(self) -> dict[str, float]:
        """Return exact match in the trained range, reach and area."""
        if not self.grid.scores:
            return {}
        numbers = measures(self.grid, self.size)
        return {f"{self.task}/{name}": getattr(numbers, name) for name in LOGGED}

    def names(self) -> list[str]:
        return [f"{self.task}/{name}" for name in LOGGED]
