"""Numbered deviations of this reproduction from the text of the thesis, each with its reason."""

DEVIATIONS: dict[str, str] = {
    "D1": (
        "Padding is a token of its own beside the printable characters. In the author's code it takes the place of "
        "the form feed, which no text contains; nothing else of the vocabulary changes."
    ),
    "D2": (
        "A fixed training set holds 100 problems of one digit, 900 of two, 9,000 of three and equal parts of every "
        "other length, none twice. Where these do not fit, as 900 and 9,000 do not fit into 10,000 beside other "
        "lengths, no length gets more than an equal part. The author's code has 990 or 9,901 two-digit problems."
    ),
    "D3": (
        "At the night and cpu profiles models have three layers (four of what the text asserts without a figure) of "
        "width 128 or less, 4 heads, pre-norm, no dropout "
        "and a head of their own, and train for minutes at a larger learning rate, in smaller batches, on 30,000 "
        "problems (10,000 of 1 and 3 digits); Table 4.3's set called 10K holds 30,000 as well. Trained lengths are 1 "
        "to 4 and 6 digits where the thesis has 1 to 7 and 9 (1 to 3 and 5 in Table 4.3 and Figures 4.7 to 4.9), 1 "
        "to 5 (cpu; night as printed) where it has 1 to 7, and 1 to 5 and 7 where it has 1 to 17 and 19 (1 to 4 and 6 in Figures 4.3, 4.6 "
        "and B.1). The longest tested are 8 of 6 digits for 12 of 9, 1.33 times the longest trained both, but 6 of 5 "
        "(1.2 times) for 12 of 9 in Table 4.3 and Figures 4.7 to 4.9, 6 of 5 for 8 of 7 (1.14 times), 8 of 7 (1.14 "
        "times) for 20 of 19 (1.05 times) and, in Figure 4.6, 8 of 6 for 21 of 19 (1.11 times); the first beyond the "
        "trained are 7 of 6 or 6 of 5 for 10 of 9 (1.17 or 1.2 times for 1.11). Padding is to 9 of 6 digits for 13 "
        "of 9, tested to 10 for 14. Figures 4.3, 4.4 and B.1 share models with Figure 4.5 there. Claims are tested, "
        "numbers are not compared."
    ),
    "D4": (
        "Test and validation problems of every other length are reserved before any training problem is drawn, so "
        "none of them is ever trained on. The author's code splits a tenth off the training file to validate, "
        "which leaves 90 % of the stated size to train on."
    ),
    "D5": (
        'With answer loss masking the targets are the answer and the final "$". The author\'s code also trains the '
        '"=", which the model is always given. The baselines of Figures 4.1 and 4.2 train on all tokens, as in '
        "that code; the text excepts no model from masking. Lines stay apart; the code joins those of the "
        "baselines to blocks of 256."
    ),
    "D6": (
        "The output head shares the token embedding and is scaled by width^-0.5, as everywhere in this suite. The "
        "author's code shares it unscaled, so that its first logits are larger and its first steps are spent on "
        "them."
    ),
    "D7": (
        "The text gives no dropout, batch size or number of steps, and no depth but for two models. They are the "
        "author's (post-norm without a final norm, dropout 0.1, biases), and so are the reversed answers of the "
        "range 1-3_digit. The learning rate is Table 4.2's 3e-4 for all, where the code has 1e-3 or 2e-4 for the "
        "large models and the Universal Transformer. Matrices start as N(0, 1 / fan_in) and GELU is its tanh "
        "approximation, where the code has torch's defaults. Precision is bfloat16 where the code has 32 bits."
    ),
    "D8": (
        "Random spaces are drawn anew whenever an example is seen, at most int(rho L) of them, L being the tokens "
        "of the query after its $ with the =, so that the printed example (four spaces in 123+456=) can occur. The "
        "author's code leaves the = out and would allow three; it means to redraw spaces at every epoch but draws "
        "them once per run (--set data.spaces.fresh=false)."
    ),
    "D9": (
        "Zero padding comes before reversal (00579 becomes 97500), so that a padded number reversed is the reverse "
        "of the padded number; the code reverses first. No published experiment combines the two."
    ),
    "D10": (
        "Abacus offsets are drawn for every example, where the author's code draws one for the whole batch. "
        "Operands and answer are reversed, as Section 2.1.4 asks; the checkpoint drawn in Figure 4.4 has a "
        "reversed answer and plain operands."
    ),
    "D11": (
        "The Universal Transformer applies its block three times, always. Adaptive halting, which Section 2.1.3 "
        "describes, is left out, as it is by Figure 4.2 and the author's code. What the text leaves open is that "
        "code's: steps are counted from 0 (Dehghani et al. 2018: from 1), and the decoder begins with the =, which "
        "the encoder does not read (model.architecture.hands_over=false gives it a $ of its own)."
    ),
    "D12": (
        "The looped decoder of Section 2.1.3 repeats one block a fixed number of times, with input injection or "
        "without, and a LayerNorm ends each, as in the author's code. The text reports no result of it; that code "
        "loops half as often as there are tokens."
    ),
    "D13": (
        "A carry is marked where the two digits at a place sum to ten or more, as in the printed example "
        "(1234+4567: ---c). The code reads carries from the wrong end and can write one character too many "
        "(---c-), the carries of the sum are --cc; both are options (data.format.carries=code, true). Operands of "
        "two lengths, which no experiment has, that code aligns at their first digits."
    ),
    "D14": (
        "The scratchpad follows the printed example in its form, with its arithmetic set right: the steps and the "
        "result printed for 567+789 are those of 567+7890. Of operands of two lengths, which no experiment has, "
        "the reversed line is unpadded as printed; the author's code pads it (data.format.pad_operands=true)."
    ),
    "D15": (
        "Figures 4.3 and 4.6 draw 6 layers of width 768 with random spaces, and the first of them a reversed "
        "answer, as in the author's plotting code; the text gives neither."
    ),
    "D16": (
        "Table 4.3 takes the same six widths and three seeds for every cell, 18 runs. The published cells rest on "
        "12 to 29 runs of 7 to 23 widths, different ones for each column, eight of them of width 16, and on 100 "
        "responses sampled at temperature 1 where Section 4.2.4 has greedy decoding. Both ways of decoding are "
        "measured."
    ),
    "D17": (
        "The problems of one digit that are tested are those that are trained, since all 100 are trained. The text "
        "leaves them out of the test sets; accuracy at one digit is shown here, and pooled with that of the other "
        "trained lengths."
    ),
    "D18": (
        "Steps, batch sizes, learning rates and training sets of the night and cpu profiles were chosen by when a "
        "model learns its trained lengths; what was tried, and where an earlier search had seen untrained lengths "
        "too, stands in RECIPES.md."
    ),
    "D19": (
        "Test sets of 1,000 problems for every length, trained or not. The author's code scores 100 of them in "
        "Figures 4.4 and 4.5 and in Table 4.3."
    ),
    "D20": (
        "Experiments that the text speaks of and does not show (Section 3.4: no positions, rotary, randomised; "
        "4.2.1: reversed operands) have the setting of Figure 4.5, at night and cpu with four layers and more "
        "updates, absolute positions beside them as well. Randomised ids are drawn up to 127, the context length of "
        "the author's code (63 at night and cpu), for every example and in testing too; that code builds the encoding "
        "and never applies it."
    ),
}
