"""Settings: what a run is made of, as typed parts; no torch. What the modules below export stands here, too."""

from lengen.config import attention_biases, encodings, formats, model, position_ids, tasks
from lengen.config.attention_biases import *  # noqa: F403
from lengen.config.encodings import *  # noqa: F403
from lengen.config.formats import *  # noqa: F403
from lengen.config.model import *  # noqa: F403
from lengen.config.part import SettingError
from lengen.config.position_ids import *  # noqa: F403
from lengen.config.sections import DataSpec, RandomSpaces, TestSpec, TrainSpec
from lengen.config.spec import Spec, change, check, from_dict
from lengen.config.tasks import *  # noqa: F403

__all__ = ["DataSpec", "RandomSpaces", "SettingError", "Spec", "TestSpec", "TrainSpec", "change", "check", "from_dict"]
__all__ += tasks.__all__
__all__ += formats.__all__
__all__ += position_ids.__all__
__all__ += encodings.__all__
__all__ += model.__all__
__all__ += attention_biases.__all__
