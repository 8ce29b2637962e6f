"""Which settings may train several seeds as one program; no torch."""

from lengen.config.model import EncoderDecoder
from lengen.config.part import kind_of
from lengen.config.spec import Spec


def obstacle(spec: Spec) -> str:
    """Why the seeds of a setting cannot be trained as one program; empty where they can.

    Members of a stack share the forward pass and the number of steps. So nothing may be drawn at random inside the
    model, no member may end before the others, and no token may see the padding that a longer batch of another member
    brings. Their forward pass is a program of its own, which is not compiled.
    """
    architecture = spec.model.architecture
    if spec.constructed:
        return "its weights are set by hand, so nothing is trained"
    if type(spec).run is not Spec.run:
        return "it trains in stages of its own"
    if spec.model.loops_by_length is not None:
        return "model.loops_by_length lets every batch loop as often as its own longest problem needs"
    if spec.model.dropout:
        return f"model.dropout={spec.model.dropout:g} draws what is dropped for each run alone"
    if spec.train.compile:
        return "train.compile=true compiles the model of one run"
    if spec.train.stop_at:
        return f"train.stop_at={spec.train.stop_at:g} would end each seed at a step of its own"
    if isinstance(architecture, EncoderDecoder) and not architecture.causal:
        return "model.architecture.causal=false lets a response see the padding of a stack"
    if spec.model.attention_bias is not None and spec.model.attention_bias.SET:
        return f"model.architecture.attention_bias={kind_of(spec.model.attention_bias)} is set before training"
    return ""
