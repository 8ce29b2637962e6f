# ruff: noqa: I001
# The face of the benchmark: `lazy_loader` reads this file, and so do type checkers and editors.

from .problems_and_answerers import answerer as answerer, evaluate as evaluate, predictions as predictions
from .problems_and_answerers import problems as problems
from .problem import Problem as Problem, checksums as checksums, frozen as frozen, read_line as read_line
from .problem import read_lines as read_lines, sum_of as sum_of, training as training
from .scoring import Measures as Measures, PredictionError as PredictionError, Scores as Scores, by_id as by_id
from .scoring import by_seed as by_seed, levels as levels, measures as measures, over_seeds as over_seeds
from .scoring import read_predictions as read_predictions, read_samples as read_samples, score as score
from .submission import Header as Header, header as header, read_header as read_header
from .submission import read_submission as read_submission
from .submission import write_submission as write_submission
from .tasks import TASKS as TASKS, Task as Task, TaskError as TaskError, task_of as task_of
