"""What every source of a trick would do otherwise: one model and one budget are the point of the matrix."""

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
    "M4": ("The window stands on a decoder, where nothing aligns it with the digit that is written."),
    "M5": (
        "Each run chooses its own learning rate of three, by three trainings with a tenth of the budget each, and "
        "trains with four times the budget where one did not teach its longest trained length."
    ),
    "M6": (
        "A bias is calibrated for a decoder: tokens of the prompt read themselves alone, as beside an encoder without "
        "blocks, and one softmax reads prompt and response, so that all lines of a head are judged together, where the "
        "source judges each direction of each side. Slopes are named by task, as in the source's code. Two trainings "
        "of equal steps share the budget, with one rate, chosen for the first. Only addition is padded to the length "
        "that is tested; elsewhere lines are counted from the end of the prompt that stays in place."
    ),
}
