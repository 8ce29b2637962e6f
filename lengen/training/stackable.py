"""Which settings may train several seeds as one program; no torch."""

from lengen.config.model import EncoderDecoder
from lengen.config.spec import Spec, SpecError


def refuse_unstackable(spec: Spec) -> None:
    """Raise `SpecError` for a setting whose seeds cannot be trained as one program.

    Members of a stack share the forward pass and the number of steps. So nothing may be drawn at random inside the
    model, no member may end before the others, and no token may see the padding that a longer batch of another member
    brings.
    """
    architecture = spec.model.architecture
    if spec.constructed:
        raise SpecError("the weights of this setting are set by hand, so nothing is trained; run it without --stacked")
    if type(spec).run is not Spec.run:
        raise SpecError("this setting trains in stages of its own, which do not stack; run it without --stacked")
    if spec.model.dropout:
        raise SpecError(
            f"model.dropout={spec.model.dropout:g}: what is dropped is drawn for each run alone, so a stack has none; "
            "run it without --stacked"
        )
    if spec.train.stop_at:
        raise SpecError(
            f"train.stop_at={spec.train.stop_at:g}: each seed would stop at a step of its own, and a stack has one "
            "number of steps; run it without --stacked"
        )
    if isinstance(architecture, EncoderDecoder) and not architecture.causal:
        raise SpecError(
            "model.architecture.causal=false: a response would see the padding of a stack; run it without --stacked"
        )
