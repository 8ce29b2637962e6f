"""What tests of stacks share: settings of all kinds, members beside single runs, and graphs without a GPU."""

from collections.abc import Callable

import torch
from torch import Tensor

from lengen.config import Decoder, HardALiBi, Lines, Window
from lengen.config.model import Tempered
from lengen.config.spec import Spec, replace
from lengen.data.batch import TrainBatch
from lengen.training.cuda_graph import Step
from lengen.training.module import SequenceModule
from tests.lengen.helpers import ENCODINGS, TRAIN, data_spec, fixed_data, spec
from tests.lengen.sequences import sequences, sized

HINTED = sized(sequences(hints=("successor", "count")), output_bias=True)
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ARCHITECTURES = ("decoder", "encoder_decoder", "encoder")


def settings() -> dict[str, Spec]:
    """Every encoding in every architecture, and what else changes a forward pass."""
    found = {
        f"{encoding}-{architecture}": spec(
            data_spec("addition", 3, 3, position_ids=ids, room=30), encoding=encoding, architecture=architecture
        )
        for encoding, ids in ENCODINGS.items()
        for architecture in ARCHITECTURES
    }
    coupled = data_spec("addition", 3, 3, room=30)
    consecutive = data_spec("addition", 3, 3, position_ids="consecutive")
    without = data_spec("addition", 3, 3, position_ids="none")
    own = {
        "loss-of-all": spec(coupled, replace(TRAIN, loss="all")),
        "tied": spec(coupled, tied=True),
        "tempered-by-position": spec(coupled, tempered=Tempered(form="one_plus_log", start=0.2)),
        "tempered-per-head": spec(coupled, tempered=Tempered(form="one_plus_log", start=0.2, per_head=True)),
        "decoder-with-a-window": spec(coupled, architecture=Decoder(Window(4))),
        "hard-alibi": spec(without, encoding="none", architecture=Decoder(HardALiBi((2,)))),
        "lines": spec(consecutive, encoding="rope", architecture=Decoder(Lines(rows=3, columns=9))),
        "index-hints": spec(replace(consecutive, format=replace(consecutive.format, index_hints=20)), encoding="rope"),
        "tempered-by-prompt": spec(consecutive, encoding="alibi", tempered=Tempered(of="prompt", start=0.5)),
        "looped": spec(coupled, shared=True, loops=2, inject="input"),
        "hinted": HINTED,
        "universal": spec(coupled, shared=True, loops=2, inject="coordinates"),
        "windowed": spec(
            fixed_data("addition"),
            encoding="sinusoidal",
            architecture="encoder_decoder",
            encoder_layers=1,
            attention_bias=Window(2, 2),
        ),
    }
    return found | own


def modules(setting: Spec, seeds: int = 3) -> list[SequenceModule]:
    """Untrained float64 modules of the first seeds."""
    return [SequenceModule(setting, seed=seed).double().to(DEVICE) for seed in range(seeds)]


def on_device(batch: TrainBatch) -> TrainBatch:
    """The batch where the modules are, its scale in their precision."""
    source = batch.source and type(batch.source)(*(tensor.to(DEVICE) for tensor in batch.source))
    tokens, ids, loss = (tensor.to(DEVICE) for tensor in (batch.tokens, batch.ids, batch.loss))
    return TrainBatch(tokens, ids, loss, batch.scale.double().to(DEVICE), source, batch.output)


class Repeats:
    """Graphs for machines without a GPU: what was recorded is run again, on what the same memory holds."""

    def __init__(self) -> None:
        self.recorded = 0

    def beside(self, step: Step, batch: TrainBatch) -> Tensor:
        return step(batch)

    def record(self, step: Step, batch: TrainBatch) -> Callable[[], Tensor]:
        self.recorded += 1
        return lambda: step(batch)
