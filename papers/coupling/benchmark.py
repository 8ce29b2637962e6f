"""Settings of position coupling whose speed two checkouts are compared by: depths, widths, a learned bias, the grid."""

from lengen.timing import Workload

_COUPLED, _FIRE = "coupling/fig1/coupling-scratchpad", "coupling/fig1/fire-scratchpad"
_WIDE = ("model.width=256", "model.head_dim=64", "model.ff_width=512")
_DEEP = ("model.layers=4",)

WORKLOADS = (
    Workload("coupling-1-layer", _COUPLED),
    Workload("coupling-4-layers", _COUPLED, _DEEP),
    Workload("coupling-1-layer-width-256", _COUPLED, _WIDE),
    Workload("coupling-4-layers-width-256", _COUPLED, _DEEP + _WIDE),
    Workload("fire-4-layers", _FIRE, _DEEP),
    Workload("grid", _COUPLED, measures=True),
)
