"""One side of a comparison: what the command line of one checkout trains or measures, timed from within.

It runs as a script, with a checkout on PYTHONPATH, and uses nothing of that but ``python -m reproduce``: so it times
checkouts that are older than itself. Lightning tells it when a step ends. What it finds out are lines of JSON on
stdout; a training waits after each stretch of steps for a line on stdin that says how long the next one is.

    python -P worker.py train "" run paper/figure/variant --profile cpu ...
    python -P worker.py measure model.safetensors run paper/figure/variant --profile cpu ...
"""

import json
import os
import sys
from collections.abc import Callable
from time import process_time
from typing import Any


def stretches(say: Callable[[dict[str, float]], None], listen: Callable[[], int]) -> Any:
    """A callback that pauses the training: `listen` says for how many steps it goes on."""
    from lightning import Callback

    class Stretches(Callback):
        left = 0
        tokens = 0
        start = 0.0

        def begin(self) -> None:
            self.left, self.tokens = listen(), 0
            self.start = process_time()

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            say({"started": process_time(), "steps": trainer.max_steps})
            self.begin()

        def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
            self.tokens += batch.tokens.numel()
            self.left -= 1
            if not self.left:
                say({"seconds": process_time() - self.start, "tokens": self.tokens})
                self.begin()

    return Stretches()


def after_training(weights: str) -> Any:
    """A callback that takes the time at which training ended, and the trained weights from a file, where one is."""
    from lightning import Callback

    class Trained(Callback):
        at = 0.0

        def on_train_end(self, trainer: Any, pl_module: Any) -> None:
            from safetensors.torch import load_model

            if weights:
                load_model(pl_module.model, weights)
            self.at = process_time()

    return Trained()


def timed(callback: Any, done: Callable[[], None]) -> None:
    """Give every Trainer the callback, before all others, and call ``done`` when its training and measuring end."""
    from lightning import Trainer

    make, fit = Trainer.__init__, Trainer.fit

    def with_callback(self: Trainer, *arguments: Any, **options: Any) -> None:
        options["callbacks"] = [callback, *(options.get("callbacks") or [])]
        make(self, *arguments, **options)

    def with_end(self: Trainer, *arguments: Any, **options: Any) -> None:
        fit(self, *arguments, **options)
        done()

    Trainer.__init__ = with_callback  # type: ignore[method-assign]
    Trainer.fit = with_end  # type: ignore[method-assign]


def main(kind: str, weights: str, arguments: list[str]) -> int:
    """Answer one command of the checkout, and tell what it took."""
    told = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what the command itself prints

    def say(found: dict[str, float]) -> None:
        print(json.dumps(found), file=told)

    def listen() -> int:
        line = sys.stdin.readline()
        if not line:
            os._exit(0)  # whoever asked has heard enough
        return int(line)

    if kind == "train":
        timed(stretches(say, listen), lambda: None)
    else:
        trained = after_training(weights)
        timed(trained, lambda: say({"seconds": process_time() - trained.at}))
    from reproduce.cli import main as command

    return command(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
