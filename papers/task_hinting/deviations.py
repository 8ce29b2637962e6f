"""Numbered deviations of this reproduction from the text of the paper, and readings where it leaves something open."""

DEVIATIONS: dict[str, str] = {
    "D1": (
        "No token begins a sequence. The text counts 103 tokens for sorting and 14 for incrementing, one more than "
        'it names; here that one is "$", which is neither read nor trained.'
    ),
    "D2": (
        "No end token is trained, as in the drawn masks, where the last output token has no successor. So a model "
        "writes exactly as many tokens as it read, in the increment task as many as the true result has. The text "
        "does not say when its decoding stops."
    ),
    "D3": (
        "Successor hint: the number asked about is that at a random position, among those with a larger one in the "
        "sequence; where all are equal it is its own successor. Duplicates are passed over: a successor is strictly "
        "larger. The text draws any position and says nothing of the largest number."
    ),
    "D4": (
        "Count hint: of two numbers that occur equally often the smaller is the answer, odd lengths have no such "
        "tie, length 2 has nothing else, and the numbers stand in random order. The text leaves all four open."
    ),
    "D5": (
        "Fill hint: the number is repeated as often as the drawn length says, and the prefix has 1 to half as many, "
        "as in the printed example; the text can be read otherwise. Only the missing numbers are trained. The "
        "printed mask has two more ones, over padding: a hint of kind fill with padding=2 trains those too."
    ),
    "D6": (
        "Carry hint: every token after the delimiter is a target, the arrows included; the text draws no mask for "
        "it. The carry behind a digit is the one that this digit hands on."
    ),
    "D7": (
        "The MLP is not gated and GELU is its tanh approximation; the text says GELU only. model.activation=geglu "
        "is the gated form that the default of the named codebase has."
    ),
    "D8": (
        "Pre-norm LayerNorm with a norm before the output head, and no biases but the head's. Appendix A draws a "
        "norm behind each block, the codebase that the text names defaults to pre-norm RMS (model.norm_place, "
        "model.norm, model.final_norm, model.linear_bias). Initialisation and attention scaling are not given either "
        "(model.init, model.scale_attention)."
    ),
    "D9": (
        "Tempered softmax: n of beta ln n is the number of tokens that a query sees, its position plus one, so that "
        "the factor is the same whatever follows. The text calls n the sequence length, in the proof the length of "
        "the input: model.tempered.of=prompt. It gives no start for beta; ours is model.tempered.start, 0.4. "
        "model.tempered.form=one_plus_log is 1 + beta ln n, which the authors' later code has."
    ),
    "D10": (
        'Warm-up is a fixed 1,000 steps (train.warmup_steps). The text has "10 epochs", and at 160M examples one '
        "epoch alone would be longer than the whole training."
    ),
    "D11": (
        "Gradients are clipped at norm 1 (train.clip), which the text does not mention. Adam's betas are not given "
        "(train.betas)."
    ),
    "D12": "The cosine ends at a learning rate of 0 (train.final_lr); the text has default parameters.",
    "D13": "Precision is bfloat16 at the paper profile (train.precision); the text gives none.",
    "D14": (
        "A batch shares one length, so that nothing is padded (train.one_length), and the weight of an example is "
        "that of the published mixture: the loss of a batch is its sum over targets divided by the mean number of "
        "targets, so short batches count for as little as their tokens do. The text pads to 512 tokens and mixes "
        "lengths."
    ),
    "D15": (
        "Training sets are streamed: a set is as many whole windows of 16 batches (train.bucket) as fit into its "
        "size, drawn again from the same random numbers in every epoch and never stored. Epochs shuffle windows, "
        "so an example keeps those it shares a batch with."
    ),
    "D16": (
        "Training alternates strictly: main task, hint, main task, hint; with three hints in turn. Each task has an "
        "equal part of the training set, and the 100,000 steps count the updates of all of them, so that a hinted "
        "model has half (with three hints a quarter) of the main task's updates. fig3.6/successor-equal has twice "
        "the steps, as many main-task updates as without hints. The text does not say which it counts. Twice the steps "
        "are twice the computation as well, and fig3.6/none-twice, ours, has as much of it without hints."
    ),
    "D17": (
        "Sequences of rep(i, r) are shuffled, so that copies do not stand side by side; the text does not say. Test "
        "sequences are the same for every model and seed."
    ),
    "D18": (
        "Figure 3.11 and the mechanisms of Section 4 use the 160M set with repeats, as Figures 3.6 to 3.9 do; the "
        "text does not say which set they use."
    ),
    "D19": (
        "Edit distance is counted in tokens, as the mean over sequences in figures and per output token in claims; "
        "how the text normalises it is not stated."
    ),
    "D20": (
        "The decoder basis is the columns of the head's matrix, as printed, without the scale of the norm before "
        "it; the residual stream is projected before that norm."
    ),
    "D21": (
        "Mechanisms are measured with the true sorted output as context. Identity and successor: the two largest "
        "projections over all numbers of the alphabet are the token itself and the next larger number of the input; "
        "tokens that have none are left out. The text gives neither the context nor the criterion."
    ),
    "D22": (
        "At the profiles cpu and night the alphabet has 50 numbers, sequences up to 10 are trained and up to 50 "
        "tested, models are narrow, and trainings take minutes at a larger learning rate in fewer steps "
        "(papers/task_hinting/profiles.py). Lengths and the alphabet keep their ratio to the longest trained length, "
        "and training sets their ratio to each other; the smallest is seen 12 times, 100 times in the paper, "
        "since one as small as that does not teach the trained lengths. Claims are tested, numbers are not compared. "
        "What was tried, and that it was chosen by accuracy at trained lengths: papers/task_hinting/RECIPES.md."
    ),
    "D23": (
        "The construction of Theorem 5.1 is the repaired one: without the primes of A.9 and A.10, with a gain of 2 N "
        "in A.11 and all queries sharpened, for sequences of up to N numbers (ERRATA.md, E1 to E3). Its temperature "
        "counts the delimiter, too: tau = 3 ln(n + 1), where the proof asks tau to be large enough."
    ),
    "D24": (
        "All three hints at once have twice the steps of the others at the profiles cpu and night, and so as many "
        "updates of the main task as a model with one hint; a quarter of the steps does not teach the trained lengths "
        "there. At the paper profile they have the published steps."
    ),
    "D25": (
        "Position embeddings are compared on the 160M set without hints and without repetitions; the text shows no "
        "result and names no setting. Fixed ones are sines and cosines (model.encoding), learned ones a table with a "
        "row for each of the first 257 tokens (data.position_ids): rows beyond the trained lengths stay as they began."
    ),
}
