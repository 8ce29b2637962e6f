"""Settings of all kinds."""

from lengen import Decoder, HardALiBi, Lines, Spec, Tempered, Window
from lengen.settings.spec import replace
from tests.lengen.helpers import ENCODINGS, TRAIN, data_spec, fixed_data, spec
from tests.lengen.sequences import sequences, sized

HINTED = sized(sequences(hints=("successor", "count")), output_bias=True)
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
