"""Settings of position coupling whose speed two checkouts are compared by: depths and widths."""

from lengen.timing import Workload

_TRAINED_5 = "coupling/fig5/trained-13"
"""S_A(5, 5) with one layer, in every checkout since the first; Figure 1's sizes are others now."""
_FLOAT32 = ("train.precision=32-true",)
_WIDE = ("model.width=256", "model.head_dim=64", "model.ff_width=512")
_DEEP = ("model.layers=4",)

WORKLOADS = (
    Workload("coupling-1-layer", _TRAINED_5, _FLOAT32),
    Workload("coupling-4-layers", _TRAINED_5, _FLOAT32 + _DEEP),
    Workload("coupling-1-layer-width-256", _TRAINED_5, _FLOAT32 + _WIDE),
    Workload("coupling-4-layers-width-256", _TRAINED_5, _FLOAT32 + _DEEP + _WIDE),
)
