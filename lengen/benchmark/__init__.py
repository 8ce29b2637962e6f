"""The benchmark: frozen problems as plain text, predictions of anyone's model, headline numbers.

    from lengen.benchmark import evaluate, problems, score
    test = problems("addition", size=6)
    score(test, [problem.answer for problem in test]).reach
    evaluate(lambda prompts: ["0"] * len(prompts), test).reach

Nothing of it loads torch; docs/benchmark.md is the protocol.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
