"""torch, loaded when it is first used: settings are listed, planned and compared without it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch as torch
else:

    class _Torch:
        def __getattr__(self, name: str) -> Any:
            import torch

            value = getattr(torch, name)
            setattr(self, name, value)  # found without this method the next time
            return value

    torch = _Torch()
