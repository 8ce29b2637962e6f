"""Rules between the parts of a setting: position ids and encodings, biases and architectures, formats and tests."""

from lengen.part import LONGEST, SettingError
from lengen.position_ids.base import PositionIds
from lengen.settings.attention_biases import AttentionBias
from lengen.settings.model import LARGEST_MODEL, Decoder, LoopsByLength, ModelSpec, Rotary
from lengen.settings.sections import DataSpec, TestSpec, TrainSpec
from lengen.tasks.sequence_base import Skewed


def check_parts(data: DataSpec, model: ModelSpec, test: TestSpec) -> None:
    """Raise `SettingError` for parts that do not go together, whatever the training."""
    data.check()
    data.task.check_counts(test.counts)
    if data.task.ROWS.numbers and max(test.lengths) > LONGEST:
        raise SettingError(f"test.lengths={max(test.lengths)}: expected numbers of at most {LONGEST} digits")
    check_model(model)
    check_encoding(model, data.position_ids)


def check_sections(data: DataSpec, model: ModelSpec, train: TrainSpec, test: TestSpec) -> None:
    """Raise `SettingError` for sections that do not go together."""
    _check_data(data, model, train, test)
    _check_loss(data, model, train)
    if model.loops_by_length is not None:
        _check_loops(data, model, train, test, model.loops_by_length)
    _check_measured(data, model, test)


def _check_data(data: DataSpec, model: ModelSpec, train: TrainSpec, test: TestSpec) -> None:
    architecture = model.architecture
    if data.spaces is not None and not data.format.begin:
        fault = "data.spaces: random spaces stand behind the $ that begins a query"
        raise SettingError(f"{fault}, and data.format.begin=false writes none; set data.format.begin=true")
    for place, part in [("data.task", data.task), *(("data.hints", hint) for hint in data.hints)]:
        if train.one_length and not isinstance(part, Skewed):
            fault = "train.one_length=true: only tasks with a distribution of lengths draw examples of one length"
            raise SettingError(f"{fault}, and {place}={part.kind} has none; set train.one_length=false")
    window = train.batch * train.bucket * (1 + len(data.hints))
    if train.one_length and 0 < data.examples < window:
        fault = f"a streamed training set holds at least {window} examples, train.bucket batches of each task"
        raise SettingError(f"data.examples={data.examples}: {fault}")
    width = data.format.width
    if width and width < (longest := longest_number(data, test)):
        fault = f"expected at least {longest}, the digits of the longest number of a trained or tested problem"
        raise SettingError(f"data.format.width={width}: {fault}, its result included")
    bias = model.attention_bias
    if architecture.SPLIT and bias is not None and (data.spaces is not None or not width):
        raise SettingError(
            f"model.architecture.attention_bias={bias.kind}: beside an encoder it is laid on queries of one length; "
            + ("set data.spaces=null" if width else "set data.format.width, to which all numbers are padded")
        )
    if data.hints and not isinstance(architecture, Decoder):
        fault = f"auxiliary tasks need model.architecture=decoder, and it is {architecture.kind}"
        raise SettingError(f"data.hints: {fault}")
    if data.hints and model.tied:
        raise SettingError("data.hints: every task has an output head of its own; set model.tied=false")
    if data.hints and data.examples and not train.one_length:
        fault = "with data.hints a training set is streamed, for which all batches share one length"
        raise SettingError(f"data.examples={data.examples}: {fault}; set data.examples=0 or train.one_length=true")


def _check_loss(data: DataSpec, model: ModelSpec, train: TrainSpec) -> None:
    if train.loss == "all" and not model.architecture.IN_ORDER:
        fault = f"train.loss=all: model.architecture={model.architecture.kind} does not see the tokens it is trained on"
        raise SettingError(f"{fault}; set train.loss=response")
    padding = max(task.trailing for task in (data.task, *data.hints))
    if train.loss == "all" and padding:
        raise SettingError(
            f"train.loss=all: the {padding} PAD tokens behind an answer (padding of the task) are targets of "
            f"train.loss=response alone; set that, or padding of the task to 0"
        )
    if model.reads_prompts and train.loss != "response":
        fault = f"{model.reads_prompts}: with train.loss={train.loss} nothing tells where a prompt ends"
        raise SettingError(f"{fault}; set train.loss=response")


def _check_measured(data: DataSpec, model: ModelSpec, test: TestSpec) -> None:
    architecture = model.architecture
    if not architecture.IN_ORDER and data.format.build(data.task).follows:
        raise SettingError(
            f"model.architecture={architecture.kind}: the blanks that it fills would tell how long an answer is, which "
            f"here depends on its digits; write answers of one length, as data.format.pad_response=true or "
            f"data.format.width does"
        )
    if test.sampled and not (architecture.IN_ORDER and model.causal):
        fault = f"test.sampled={test.sampled}: only models that write token by token are sampled"
        raise SettingError(f"{fault}; set test.sampled=0")
    if test.track and not model.causal:
        fault = f"test.track={test.track}: losses are of tokens given those before them"
        raise SettingError(f"{fault}, and with model.architecture.causal=false tokens see later ones; set test.track=0")
    if test.attention and not isinstance(architecture, Decoder):
        fault = "test.attention: averaged maps need model.architecture=decoder"
        raise SettingError(f"{fault}; name problems in test.probes")


def longest_number(data: DataSpec, test: TestSpec) -> int:
    """Return the number of digits of the longest operand or answer that a trained or tested problem could have."""
    cells = [(data.task, length, count) for length in test.lengths for count in test.counts]
    cells += [(task, length, task.most) for task in (data.task, *data.hints) for length in {*task.trained_lengths}]
    extents = [task.extent(shape) for task, *cell in cells for shape in task.longest_shapes(*cell)]
    return max(max(*extent.operands, extent.answer) for extent in extents)


def _check_loops(data: DataSpec, model: ModelSpec, train: TrainSpec, test: TestSpec, rule: LoopsByLength) -> None:
    """Raise `SettingError` if the number of loops depends on a response that is not written yet."""
    if train.loss != "response":
        fault = f"model.loops_by_length: with train.loss={train.loss} nothing tells where a prompt ends"
        raise SettingError(f"{fault}; set train.loss=response")
    if train.compile:
        fault = "train.compile=true: with model.loops_by_length every batch has loops of its own"
        raise SettingError(f"{fault}, each of which would be compiled; set train.compile=false")
    written = rule.of == "response" and model.architecture.IN_ORDER
    if written and data.format.build(data.task).follows:
        raise SettingError(
            f"model.loops_by_length.of=response: answers of data.task={data.task.kind} end where the model "
            f"ends them, so their length is not known before they are written; pad them, or set "
            f"model.loops_by_length.of=prompt"
        )
    lengths, counts = {*data.task.trained_lengths, *test.lengths}, {data.task.most, *test.counts}
    loops = {model.loops_of(*data.tokens(length, count)) for length in lengths for count in counts}
    if len(loops) == 1:
        (same,) = loops
        raise SettingError(
            f"model.loops_by_length: every problem of data.task={data.task.kind} in data.format="
            f"{data.format.kind} would loop {same} time{'s' * (same > 1)}; set model.loops={same} instead"
        )


def check_model(model: ModelSpec) -> None:
    """Raise `SettingError` for fields of a model that do not go together."""
    if model.weights > LARGEST_MODEL:
        raise SettingError(
            f"model.layers={model.layers}, model.width={model.width}: this model has about {model.weights:.1e} "
            f"weights, more than the {LARGEST_MODEL:.1e} that are let through; lower its sizes"
        )
    if model.tempered is not None and not isinstance(model.architecture, Decoder):
        fault = f"tempered attention needs model.architecture=decoder, and it is {model.architecture.kind}"
        raise SettingError(f"model.tempered: {fault}")
    bias = model.attention_bias
    if bias is not None:
        _check_bias(model, bias)
    elif not model.causal:
        raise SettingError(
            "model.architecture.causal=false: without a bias every response token would see the later ones, which "
            "it is trained to predict; set model.architecture.attention_bias, or model.architecture.causal=true"
        )
    if model.output_bias and model.tied:
        fault = "model.output_bias=true: a tied output head shares the token embedding and has no bias"
        raise SettingError(f"{fault}; set model.tied=false")
    if model.loops_by_length is not None and model.loops != 1:
        fault = f"model.loops={model.loops}: model.loops_by_length already says how often the stack is applied"
        raise SettingError(f"{fault}; set one of them")
    if model.loops_by_length is not None and model.architecture.SPLIT:
        fault = f"model.loops_by_length: model.architecture={model.architecture.kind} has two stacks"
        raise SettingError(f"{fault}, one of which reads the query once; set model.architecture=decoder or encoder")
    if model.inject != "none" and model.loops == 1 and not model.shared and model.loops_by_length is None:
        fault = f"model.inject={model.inject}: it is added at recurrent steps, of which there are none"
        raise SettingError(f"{fault}; set model.loops to 2 or more, or model.shared=true")


def _check_bias(model: ModelSpec, bias: AttentionBias) -> None:
    if not isinstance(model.architecture, Decoder):
        if not bias.BESIDE:
            raise SettingError(
                f"model.architecture.attention_bias={bias.kind}: it is for a decoder without encoder, and "
                f"model.architecture is {model.architecture.kind}; set model.architecture=decoder"
            )
        return
    bias.check_alone(model.heads, model.encoding.kind)
    if model.tempered is not None:
        raise SettingError(
            f"model.tempered: its logits grow with all tokens so far, and "
            f"model.architecture.attention_bias={bias.kind} lets heads see few of them; set one of the two to none"
        )


def check_encoding(model: ModelSpec, ids: PositionIds) -> None:
    """Raise `SettingError` if the encoding cannot read these ids."""
    encoding = model.encoding
    read = encoding.LEVELS
    if read == 0:
        if ids.sizes:  # what has a largest id refuses longer problems
            raise SettingError(
                f"data.position_ids={ids.kind}: model.encoding={encoding.kind} reads no position ids, so these would "
                f"only bound the length of problems; set data.position_ids=none, or choose another model.encoding"
            )
        return
    if ids.levels == 0:
        fault = f"model.encoding={encoding.kind}: it reads position ids, and data.position_ids=none gives none"
        raise SettingError(f"{fault}; choose model.encoding=none, or ids such as consecutive")
    if read is not None and read < ids.levels:
        raise SettingError(
            f"model.encoding={encoding.kind}: it reads {read} level of position ids, and "
            f"data.position_ids={ids.kind} has {ids.levels}; choose model.encoding=learned, or ids of one level"
        )
    if encoding.TABLE and not ids.sizes:
        raise SettingError(
            f"model.encoding={encoding.kind}: its table has a row for each id, and data.position_ids={ids.kind} has no "
            f"largest one; set data.position_ids.max_position to the longest sequence"
        )
    in_blocks = encoding.IN_BLOCKS or (encoding.EMBEDS and model.inject == "coordinates")
    if in_blocks and model.architecture.SPLIT and not model.encoder_layers:
        raise SettingError(
            f"model.architecture.encoder_layers=0: {encoding.kind}, with model.inject={model.inject}, tells the order "
            f"of tokens inside blocks, of which the query passes none; set it to 1 or more"
        )
    if isinstance(encoding, Rotary) and model.head_dim % 2:
        raise SettingError(f"model.head_dim={model.head_dim}: rope turns pairs and needs an even number")
