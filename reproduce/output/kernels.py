"""Stored runs of one setting whose kernels differ: their numbers differ by rounding, beside what their seeds make."""

from collections.abc import Iterable

from lengen.results.records import Run


def different_kernels(runs: Iterable[Run]) -> str:
    """One sentence if the runs of one setting were trained with several kernels, by run.json; else nothing."""
    seeds: dict[str, list[int]] = {}
    for run in runs:
        kernels = run.info.get("kernels")
        if isinstance(kernels, dict) and {"products", "compiled"} <= kernels.keys():
            compiled = "compiled" if kernels["compiled"] else "not compiled"
            products = (
                "float32 products" if kernels["products"] == "none" else f"{kernels['products']} bfloat16 products"
            )
            seeds.setdefault(f"{products}, {compiled}", []).append(run.seed)
    if len(seeds) < 2:
        return ""
    named = [
        f"{kernels} (seed{'s' * (len(of) > 1)} {', '.join(map(str, sorted(of)))})" for kernels, of in seeds.items()
    ]
    return f"trained with different kernels, which moves numbers by rounding: {'; '.join(sorted(named))}"
