"""The sentence for stored runs of one setting that trained with different kernels."""

from types import SimpleNamespace

from reproduce.output.kernels import different_kernels


def run(seed: int, products: str | None, compiled: bool = True):
    kernels = {} if products is None else {"kernels": {"products": products, "compiled": compiled, "why": "any"}}
    return SimpleNamespace(seed=seed, info=kernels)


def test_different_kernels_are_named_with_their_seeds():
    said = different_kernels([run(2, "native"), run(0, "native"), run(1, "emulated", False), run(3, None)])
    assert "native bfloat16 products, compiled (seeds 0, 2)" in said
    assert "emulated bfloat16 products, not compiled (seed 1)" in said


def test_equal_kernels_need_no_sentence():
    assert different_kernels([run(0, "none"), run(1, "none"), run(2, None)]) == different_kernels([]) == ""
