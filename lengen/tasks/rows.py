"""Names of the rows of digits that tasks compute and formats write."""

OPERANDS = "operands"
ANSWER = "answer"

# of products, in two stages
PRODUCTS = "partial products"
SUMS = "sums of products"

# of sums of two operands, digit by digit
CARRIES_IN = "carries in"
SUM_DIGITS = "sum digits"
MODULAR = "sums modulo 10"
PAIR_CARRIES = "pairs that carry"
DOWNWARD_CARRIES = "carries downward"
CARRIES_OUT = "carries out"
TRAILING = "behind a carry"
"""A row that is written only where the units carry."""
