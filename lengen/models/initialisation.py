"""Initial weights of a model by the name of ``model.init``; biases of linear layers start at zero."""

from collections.abc import Callable

from torch import nn

from lengen.models.blocks import Attention, Block, FeedForward
from lengen.settings.spec import ModelSpec

Ends = tuple[nn.Embedding, list[nn.Linear]]
"""The token embedding, and the output heads that do not share it."""


def initialise(transformer: nn.Module, model: ModelSpec, ends: Ends) -> None:
    """Draw all weights as the specification says, in the order of the modules; biases start at zero."""
    INITIALISATIONS[model.init](transformer, model, ends)
    for module in transformer.modules() if model.linear_bias else ends[1]:
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)


def _t5(transformer: nn.Module, model: ModelSpec, ends: Ends) -> None:
    """Draw as T5 does (Raffel et al. 2020, mesh-TensorFlow): queries carry 1 / sqrt(D) that the scores then lack."""
    for module in transformer.modules():
        if isinstance(module, Attention):
            inner = model.heads * model.head_dim
            query_dim = 1 if model.scale_attention else model.head_dim
            nn.init.normal_(module.query.weight, std=(model.width * query_dim) ** -0.5)
            nn.init.normal_(module.key.weight, std=model.width**-0.5)
            nn.init.normal_(module.value.weight, std=model.width**-0.5)
            nn.init.normal_(module.out.weight, std=inner**-0.5)
        elif isinstance(module, FeedForward):
            _fan_in(module)
    _unit_logits(model, ends)


def _normal(transformer: nn.Module, model: ModelSpec, ends: Ends) -> None:
    """Draw every matrix N(0, 1 / fan_in)."""
    for module in transformer.modules():
        if isinstance(module, Block):
            _fan_in(module)
    _unit_logits(model, ends)


def _xavier(transformer: nn.Module, model: ModelSpec, ends: Ends) -> None:
    """Draw every matrix uniformly with variance 2 / (fan_in + fan_out) (Glorot, Bengio 2010), embeddings, heads too."""
    for parameter in transformer.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)


def _fan_in(module: nn.Module) -> None:
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=part.in_features**-0.5)


def _unit_logits(model: ModelSpec, ends: Ends) -> None:
    """Draw embeddings N(0, 1), output heads N(0, 1 / width)."""
    embedding, outputs = ends
    nn.init.normal_(embedding.weight)
    for output in outputs:
        nn.init.normal_(output.weight, std=model.width**-0.5)


INITIALISATIONS: dict[str, Callable[[nn.Module, ModelSpec, Ends], None]] = {
    "t5": _t5,
    "normal": _normal,
    "xavier": _xavier,
}
