# ruff: noqa: I001
# The face: the names that `lengen` offers, and the module of each. `lazy_loader` reads this file at `import lengen`,
# and so do type checkers and editors.

from . import benchmark as benchmark
from .benchmark import evaluate as evaluate, problems as problems, score as score
from .models.foreign import character_model as character_model
from .callbacks.accuracy_grid import AccuracyGrid as AccuracyGrid, Measurement as Measurement
from .callbacks.attention_maps_and_probes import AttentionMaps as AttentionMaps, Probes as Probes
from .benchmark.while_training import BenchmarkScores as BenchmarkScores
from .callbacks.edit_distance_curve import EditDistanceCurve as EditDistanceCurve
from .callbacks.curves_by_length import LearningCurves as LearningCurves
from .callbacks.monitoring import StopWhenGood as StopWhenGood
from .data.datamodule import ArithmeticData as ArithmeticData
from .data.setting_from_names import setting as setting
from .data.task_data import TaskData as TaskData
from .decoding.decoding import generate as generate, verify as verify
from .formats.interleaved import Aligned as Aligned
from .formats.base import Format as Format
from .formats.steps import DigitSteps as DigitSteps
from .formats.linear import Linear as Linear
from .formats.steps import MultiplicationStages as MultiplicationStages
from .formats.addition_subtasks import SUBTASKS as SUBTASKS, Subtasks as Subtasks
from .huggingface import from_transformers as from_transformers
from .trained_model import LoadError as LoadError, load as load
from .metrics.response_metrics import answer_match as answer_match, edit_distances as edit_distances
from .metrics.response_metrics import exact_match as exact_match
from .metrics.torch_metrics import (
    AnswerMatch as AnswerMatch,
    Counted as Counted,
    EditDistance as EditDistance,
    ExactMatch as ExactMatch,
)
from .models import Transformer as Transformer
from .part import Part as Part, SettingError as SettingError
from .position_ids.digit_places import Abacus as Abacus
from .position_ids.base import PositionIds as PositionIds
from .position_ids.sequence_places import Consecutive as Consecutive, Cyclic as Cyclic, NoPositionIds as NoPositionIds
from .position_ids.digit_places import Coupled as Coupled
from .position_ids.sequence_places import Randomised as Randomised
from .settings.attention_biases import (
    AttentionBias as AttentionBias,
    Given as Given,
    HardALiBi as HardALiBi,
    Lines as Lines,
    LineWindow as LineWindow,
    Window as Window,
)
from .settings.model import (
    ALiBi as ALiBi,
    Encoding as Encoding,
    Fire as Fire,
    Learned as Learned,
    NoEncoding as NoEncoding,
    RelativeKeys as RelativeKeys,
    Rotary as Rotary,
    Sinusoidal as Sinusoidal,
)
from .settings.model import (
    Architecture as Architecture,
    Decoder as Decoder,
    Encoder as Encoder,
    EncoderDecoder as EncoderDecoder,
    LoopsByLength as LoopsByLength,
    ModelSpec as ModelSpec,
    Tempered as Tempered,
)
from .settings.sections import (
    NUMBER_FORMATS as NUMBER_FORMATS,
    VALIDATION as VALIDATION,
    DataSpec as DataSpec,
    NumberFormat as NumberFormat,
    RandomSpaces as RandomSpaces,
    Section as Section,
    TestSpec as TestSpec,
    TrainSpec as TrainSpec,
)
from .settings.spec import Spec as Spec, from_dict as from_dict, replace as replace, validate as validate
from .tasks.addition import Addition as Addition
from .tasks.successor_and_pair_tasks import (
    DigitSums as DigitSums,
    NByOne as NByOne,
    PairAddition as PairAddition,
    Successor as Successor,
)
from .tasks.base import Extent as Extent, Task as Task
from .tasks.strings import Copy as Copy
from .tasks.rarer_number import Counting as Counting
from .tasks.missing_repeats import Filling as Filling
from .tasks.increment import Carries as Carries, Increment as Increment
from .tasks.listops import ListOps as ListOps
from .tasks.multiplication import Multiplication as Multiplication
from .tasks.strings import Parity as Parity
from .tasks.strings import Reverse as Reverse
from .tasks.running_reductions import (
    ListOpsMax as ListOpsMax,
    ListOpsMin as ListOpsMin,
    ListOpsSum as ListOpsSum,
    RunningXor as RunningXor,
)
from .tasks.sorting import NextLarger as NextLarger, Sorting as Sorting
from .tasks.two_operand_addition import TwoOperandAddition as TwoOperandAddition
from .training.model_building import build_model as build_model
from .training.module import SequenceModule as SequenceModule
from .training.quick import train as train
from .training.run import build_trainer as build_trainer, execute as execute

__version__: str
