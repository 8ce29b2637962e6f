"""Deviations from the sources of every trick: one model and one budget are the point of the matrix."""

DEVIATIONS: dict[str, str] = {
    "M1": (
        "One decoder of two layers of width 64 for all, trained for seconds on short problems: no source has this "
        "setting, so its predictions are carried over to it, not repeated."
    ),
    "M2": (
        "The plain decoder has no positions. Tricks of formats, attention and procedures are changes of it, except "
        "random spaces, which their source writes about absolute positions."
    ),
    "M3": (
        "Abacus and coupled ids, zero padding, scratchpads and loops come with answers from the units on, as "
        "published; the trick `reversed` shows what that alone does."
    ),
    "M4": (
        "Windows stand in a decoder, where one softmax reads prompt and answer and the source has one for each, and "
        "tokens of the prompt read themselves alone. Two operands have a window each instead of standing digit by "
        "digit in one; addition is padded to the longest tested length for that, as there; parity has its scratchpad. "
        "A period of 3 asks for 6 trained digits with two layers of w = 1: successor, N x 1 and addition have fewer."
    ),
    "M5": (
        "Each run tries its own learning rate of three: a whole budget with each, in the same order everywhere, until "
        "one has taught its longest trained length; where none has, one further training with the best of them and "
        "four times the budget, which is kept even where it comes out worse. What is looked at is exact match on the "
        "test problems of the longest trained length: inside the trained range, of which no length is held out, up "
        "to four times. The same problems say whether a cell has learned its range, which is judged a little kindly."
    ),
    "M6": (
        "A bias is calibrated for a decoder: tokens of the prompt read themselves alone, as beside an encoder without "
        "blocks, and one softmax reads prompt and response, where the source has one for each. Lines of a response "
        "open at 0.9 and lines of a prompt at 2 deviations above the mean of their direction, as in the small "
        "settings of that paper here (the text: 2). Slopes are named by task, as in the source's code. Two trainings "
        "of equal steps share the budget, with one rate, chosen for the first. Only addition is padded to the length "
        "that is tested; elsewhere lines are counted from the end of the prompt that stays in place."
    ),
    "M7": (
        "Auxiliary tasks (`hint`, `association`) share the token budget with the main one, in turn, so that the main "
        "task has half of the updates that its budget pays for, and these are fewer where auxiliary problems are "
        "longer. As summaries of Cai et al. 2025 have it, an auxiliary task goes to twice the main length there, over "
        "RoPE, and all tasks share one output head; `association` goes to five times the main length, without "
        "positions, and each task has a head of its own. Of `subtasks`, one example in five is an addition."
    ),
    "M8": (
        "Zero padding goes to the longest answer that operands of a problem's own length can have; the thesis pads "
        "numbers of all lengths to one fixed length."
    ),
    "M9": (
        "Hard-ALiBi has two of four heads that see the last key and the last two; the authors' code gives eight of "
        "twelve heads windows of up to eight keys in a model many times as large. Two keys find the place in a string "
        "of random digits only where no pair of digits occurs twice."
    ),
}
