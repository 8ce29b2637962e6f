"""The formats of Section 4.2 of "Length Generalization on Multi-Digit Integer Addition with Transformers" as literal
strings, one problem at a time, from the operands as text."""

from itertools import zip_longest

from hypothesis import strategies as st


def number(longest: int = 9) -> st.SearchStrategy[str]:
    """A number without leading zeros; long and short ones, and carries through all digits, are common."""
    size = st.integers(1, longest)
    return st.one_of(
        st.integers(0, 9).map(str),
        size.flatmap(lambda n: st.integers(0 if n == 1 else 10 ** (n - 1), 10**n - 1)).map(str),
        size.map(lambda n: "9" * n),
        size.map(lambda n: "1" + "0" * (n - 1)),
    )


def columns(a: str, b: str) -> list[tuple[int, int]]:
    """Digit pairs, units first, the shorter number padded."""
    return [(int(x), int(y)) for x, y in zip_longest(a[::-1], b[::-1], fillvalue="0")]


def steps(a: str, b: str) -> str:
    """The response of the scratchpad."""
    carry, done = 0, []
    for x, y in columns(a, b):
        total = x + y + carry
        done.append(f"{x}+{y}+{carry}={total % 10},c={total // 10}")
        carry = total // 10
    return f"{' '.join(a[::-1])} + {' '.join(b[::-1])};c=0,{';'.join(done)}|{int(a) + int(b)}$"


def pairs(a: str, b: str) -> str:
    return "".join("c" if x + y > 9 else "-" for x, y in reversed(columns(a, b)))


def true(a: str, b: str) -> str:
    carries = [int(a) % 10**k + int(b) % 10**k >= 10**k for k in range(len(columns(a, b)), 0, -1)]
    return "".join("c" if carry else "-" for carry in carries)


def code(a: str, b: str) -> str:
    """From the first digit to the last, both operands at their first, with the carry that came from the left."""
    carry, text = False, ""
    for x, y in zip_longest(a, b, fillvalue="0"):
        carry = int(x) + int(y) + carry > 9
        text += "c" if carry else "-"
    return text + "-" if carry else text


CARRIES = {"pairs": pairs, "code": code, "true": true}


def subtask(name: str, a: str, b: str, carries: str = "pairs") -> str:
    downward = columns(a, b)[::-1]
    response = {
        "add": str(int(a) + int(b)),
        "rev": f"{a[::-1]}+{b[::-1]}",
        "ali": ",".join(f"{x}+{y}" for x, y in downward),
        "mad": "".join(str((x + y) % 10) for x, y in downward),
        "car": CARRIES[carries](a, b),
    }[name]
    return f"{name}${a}+{b}={response}$"
