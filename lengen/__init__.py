"""The parts that all papers share.

They stand in the order data passes through them: task, format, position ids, data, model, records.

What a script needs can be had from here; each name is loaded when it is first used, so that ``import lengen`` is quick.

    import lengen
    from lightning import Trainer

    task = lengen.Addition(digits=2, operands=2)
    format = lengen.Linear(scratchpad=True, pad_query=True, pad_response=True, reverse_response=True)
    data = lengen.DataSpec(task=task, format=format, position_ids=lengen.Coupled((9, 9)))
    model = lengen.ModelSpec(layers=2, heads=2, width=16, head_dim=8, ff_width=32, encoding=lengen.Learned())
    train, test = lengen.TrainSpec(steps=50, batch=32, lr=1e-3), lengen.TestSpec(lengths=(2, 3), counts=(2,))
    spec = lengen.Spec(data=data, model=model, train=train, test=test)
    module = lengen.SequenceModule(spec, seed=0)
    grid = lengen.AccuracyGrid(lengths=(1, 2, 3), counts=(2, 3), examples=100)
    trainer = Trainer(max_steps=50, max_epochs=-1, callbacks=[grid])
    trainer.fit(module, lengen.ArithmeticData(spec))

Afterwards ``grid.grid`` holds the counts of every tested cell.
"""

from contextlib import suppress

__version__ = "0.1.0"
with suppress(ModuleNotFoundError):  # `python -m papers` lists the papers before anything is installed
    import lazy_loader

    __getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
