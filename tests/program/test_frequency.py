"""How often the place runs at which a program makes its loader, marked by the word `HERE` in a comment."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from program.asking import program_of

from torchrepro_lint.engine import check
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.programs.frequency import Often, frequency, going_on, training_around
from torchrepro_lint.program.running.guards import Place, place_of
from torchrepro_lint.program.running.ways import ways

HEAD = """
import torch
from torch import nn
from torch.utils.data import DataLoader
data = list(range(8))
"""
FEDERATED = """
class Criterion(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight
        self.register_buffer("mean", torch.zeros(1))
    def forward(self, x):
        return (x * self.weight).mean()
class Local:
    def __init__(self, part):
        self.loader = DataLoader(part)  # HERE
        self.criterion = CRITERION
    def update(self, model):
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for batch in self.loader:
            self.criterion(model(batch)).backward()
            optimizer.step()
        return model.state_dict()
model = Net()
for round in range(5):
    for client in range(2):
        weights = Local(data).update(model=copy.deepcopy(model))
    model.load_state_dict(weights)
"""

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
"""
AGENT = """
class Agent:
    def __init__(self, model):
        self.optimizer = torch.optim.Adam(model.parameters())
    def update(self):
        for batch in DataLoader(data):  # HERE
            self.optimizer.step()
"""
CASES = {
    # name: (how often, program)
    "the module's own code": ("once", "loader = DataLoader(data)  # HERE"),
    "a function called once": (
        "once",
        """
        def make():
            return DataLoader(data)  # HERE
        make()
        """,
    ),
    "a function that nothing calls": (
        "once",
        """
        def make():
            return DataLoader(data)  # HERE
        """,
    ),
    "an optimizer in each turn for one network": (
        "again",
        """
        from itertools import count
        def fit(model):
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            for batch in DataLoader(data):  # HERE
                optimizer.step()
        model = nn.Linear(1, 1)
        for _ in count():
            fit(model)
        """,
    ),
    "a loader and an optimizer in each turn for one network from before": (
        "again",
        """
        model = nn.Linear(1, 1)
        for number, part in enumerate([data, data[1:]]):
            loader = DataLoader(part)  # HERE
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            for batch in loader:
                optimizer.step()
        """,
    ),
    "a network, a loader and an optimizer in each turn": (
        "once",
        """
        for number, part in enumerate([data, data[1:]]):
            model = nn.Linear(1, 1)
            loader = DataLoader(part)  # HERE
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            for batch in loader:
                optimizer.step()
        """,
    ),
    "a network from before that begins anew in each turn": (
        "once",
        """
        model = nn.Linear(1, 1)
        for number, part in enumerate([data, data[1:]]):
            model.reset_parameters()
            loader = DataLoader(part)  # HERE
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            for batch in loader:
                optimizer.step()
        """,
    ),
    "an optimizer in each fold for one network from before": (
        "once",
        """
        model = nn.Linear(1, 1)
        for fold in range(3):
            loader = DataLoader(data)  # HERE
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            for batch in loader:
                optimizer.step()
        """,
    ),
    "a network and its optimizer in each turn": (
        "once",
        """
        def fit(model):
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            for batch in DataLoader(data):  # HERE
                optimizer.step()
        for _ in range(3):
            fit(nn.Linear(1, 1))
        """,
    ),
    "a client that a framework makes in each round": (
        "again",
        """
        import flwr as fl
        def make_client(number):
            return Client(nn.Linear(1, 1), DataLoader(data))  # HERE
        class Client(fl.client.NumPyClient):
            def __init__(self, model, loader):
                self.model, self.loader = model, loader
        fl.simulation.start_simulation(client_fn=make_client, num_clients=2)
        """,
    ),
    "copies of one network in each round": (
        "again",
        """
        import copy
        def fit(shared):
            model = copy.deepcopy(shared).to("cpu")
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            for batch in DataLoader(data):  # HERE
                optimizer.step()
            return model.state_dict()
        shared = nn.Linear(1, 1)
        for round_number in range(3):
            for client in range(2):
                weights = fit(shared)
            shared.load_state_dict(weights)
        """,
    ),
    "copies of one network, one after the other": (
        "once",
        """
        import copy
        def fit(shared):
            model = copy.deepcopy(shared)
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            for batch in DataLoader(data):  # HERE
                optimizer.step()
        shared = nn.Linear(1, 1)
        for rate in range(3):
            fit(shared)
        """,
    ),
    "one call for each part": (
        "once",
        """
        def make(part):
            return DataLoader(part)  # HERE
        train, val = make(data), make(data[1:])
        """,
    ),
    "loaders kept by phase": (
        "once",
        """
        def make(part):
            return DataLoader(part)  # HERE
        loaders = {}
        for phase in ("train", "val"):
            loaders[phase] = make(data)
        """,
    ),
    "a call per epoch": (
        "again",
        """
        def make():
            return DataLoader(data)  # HERE
        for epoch in range(3):
            for batch in make():
                print(batch)
        """,
    ),
    "a loop that says nothing": (
        "again",
        """
        def make():
            return DataLoader(data)  # HERE
        for i in range(3):
            for batch in make():
                print(batch)
        """,
    ),
    "a call per epoch through helpers": (
        "again",
        """
        def make():
            return DataLoader(data)  # HERE
        def train_epoch():
            loader = make()
        def fit():
            epoch = 0
            while epoch < 3:
                train_epoch()
                epoch += 1
        fit()
        """,
    ),
    "an update in an endless loop": (
        "again",
        AGENT
        + """
agent = Agent(nn.Linear(2, 2))
while True:
    agent.update()
""",
    ),
    "an update that nothing calls": ("unknown", AGENT),
    "a training of its own in the steps of another": (
        "again",
        NET
        + """
def tune():
    model = Net()
    optimizer = torch.optim.SGD(model.parameters())
    for batch in DataLoader(data):  # HERE
        model(batch).backward()
        optimizer.step()
def scheduled(optimizer):
    return optimizer
def adapt(loader, model):
    optimizer = torch.optim.SGD(model.parameters())
    iteration = 0
    while iteration < 100:
        model.train()
        if iteration % 10 == 0:
            prompt = tune()
        scheduled(optimizer)
        model(prompt).backward()
        optimizer.step()
        iteration += 1
adapt(data, Net())
""",
    ),
    "a training per seed": (
        "once",
        """
        def train():
            loader = DataLoader(data)  # HERE
        for seed in range(3):
            torch.manual_seed(seed)
            train()
        """,
    ),
    "the same seed in each turn": (
        "again",
        """
        def train():
            loader = DataLoader(data)  # HERE
        for i in range(3):
            torch.manual_seed(0)
            train()
        """,
    ),
    "a model per fold": (
        "once",
        NET
        + """
def train():
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for batch in DataLoader(data):  # HERE
        optimizer.step()
for i in range(5):
    train()
""",
    ),
    "a model from a factory per setting": (
        "once",
        NET
        + """
def build():
    return Net()
def train(model):
    loader = DataLoader(data)  # HERE
for i in (0.1, 0.2):
    train(build())
""",
    ),
    "a round of federated learning": (
        "again",
        NET
        + """
def local(model):
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for batch in DataLoader(data):  # HERE
        optimizer.step()
model = Net()
for round in range(5):
    local(model)
""",
    ),
    "clients with a loss of their own in each round": (
        "again",
        "import copy\n" + NET + FEDERATED.replace("CRITERION", "Criterion(2.0)"),
    ),
    "clients with a loss of torch in each round": (
        "again",
        "import copy\n" + NET + FEDERATED.replace("CRITERION", "nn.NLLLoss()"),
    ),
    "two trainings of one model": (
        "again",
        NET
        + """
def fit(model, optimizer):
    for batch in DataLoader(data):  # HERE
        optimizer.step()
model = Net()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
fit(model, optimizer)
fit(model, optimizer)
""",
    ),
    "one training of two": (
        "once",
        NET
        + """
def fit(model, optimizer):
    for batch in DataLoader(data):  # HERE
        optimizer.step()
model = Net()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
if data:
    fit(model, optimizer)
else:
    fit(model, optimizer)
""",
    ),
    "kept when it is first made": (
        "once",
        """
        class Trainer:
            def __init__(self):
                self.loader = None
            def get(self):
                if self.loader is None:
                    self.loader = DataLoader(data)  # HERE
                return self.loader
        trainer = Trainer()
        for epoch in range(3):
            trainer.get()
        """,
    ),
    "the constructor of one object": (
        "once",
        """
        class Trainer:
            def __init__(self):
                self.loader = DataLoader(data)  # HERE
        Trainer()
        """,
    ),
    "the constructor of an object per epoch": (
        "again",
        """
        class Trainer:
            def __init__(self):
                self.loader = DataLoader(data)  # HERE
        for epoch in range(3):
            Trainer()
        """,
    ),
    "the items of a sampler": (
        "again",
        """
        class Batches:
            def __iter__(self):
                return iter(DataLoader(data))  # HERE
        """,
    ),
    "a step of Lightning": (
        "again",
        """
        import lightning as L
        class Module(L.LightningModule):
            def training_step(self, batch, index):
                loader = DataLoader(data)  # HERE
        """,
    ),
    "a loader of Lightning": (
        "once",
        """
        import lightning as L
        class Module(L.LightningModule):
            def train_dataloader(self):
                return DataLoader(data)  # HERE
        """,
    ),
    "a loader that Lightning reloads": (
        "unknown",
        """
        import lightning as L
        class Module(L.LightningModule):
            def train_dataloader(self):
                return DataLoader(data)  # HERE
        L.Trainer(reload_dataloaders_every_n_epochs=1).fit(Module())
        """,
    ),
    "a training per written-out setting": (
        "once",
        """
        def make(size):
            return DataLoader(data, size)  # HERE
        for size in (1, 2):
            for batch in make(size):
                print(batch)
        """,
    ),
    "a method of a parameter": (
        "again",
        AGENT
        + """
def fit(agent):
    while True:
        agent.update()
fit(Agent(nn.Linear(2, 2)))
""",
    ),
    "handed over to what is not known": (
        "unknown",
        """
        from somewhere import register
        def make():
            return DataLoader(data)  # HERE
        register(make)
        """,
    ),
    "started in a process": (
        "once",
        """
        import torch.multiprocessing as mp
        def worker(rank):
            loader = DataLoader(data)  # HERE
        mp.spawn(worker, nprocs=2)
        """,
    ),
    "more callers than are looked at": (
        "unknown",
        "def make():\n    return DataLoader(data)  # HERE\n"
        + "".join(f"def use_{number}():\n    return make()\n" for number in range(40)),
    ),
}


KEPT = """
from functools import cache
@cache
def make():
    return DataLoader(data)  # HERE
for epoch in range(3):
    for batch in make():
        print(batch)
"""
PARTS = {
    # name: (repeated within one training, repeated by its epochs or steps, how often, program)
    "an epoch": (True, True, "again", "for epoch in range(3):\n    loader = DataLoader(data)  # HERE\n"),
    "an epoch with a seed of its own": (
        True,
        True,
        "once",
        "for epoch in range(3):\n    torch.manual_seed(epoch)\n    loader = DataLoader(data)  # HERE\n",
    ),
    "an endless loop that trains nothing": (
        True,
        False,
        "again",
        "while True:\n    print(len(DataLoader(data)))  # HERE\n",
    ),
    "a step": (
        True,
        True,
        "again",
        "optimizer = torch.optim.SGD([torch.ones(1)], 0.1)\nfor part in data:\n"
        "    loader = DataLoader([part])  # HERE\n    optimizer.step()\n",
    ),
    "a step with a seed of its own": (
        True,
        True,
        "once",
        "optimizer = torch.optim.SGD([torch.ones(1)], 0.1)\nfor i in range(3):\n    torch.manual_seed(i)\n"
        "    loader = DataLoader(data)  # HERE\n    optimizer.step()\n",
    ),
    "a loop that counts, and calls what trains": (
        True,
        True,
        "again",
        "def train(optimizer):\n    loader = DataLoader(data)  # HERE\n    optimizer.step()\n"
        "optimizer = torch.optim.SGD([torch.ones(1)], 0.1)\nfor i in range(3):\n    train(optimizer)\n",
    ),
    "a loop that counts, and trains nothing": (
        False,
        False,
        "again",
        "for i in range(3):\n    print(len(DataLoader(data)))  # HERE\n",
    ),
    "an evaluation in each epoch": (
        False,
        True,
        "again",
        "def evaluate():\n    loader = DataLoader(data)  # HERE\nfor epoch in range(3):\n    evaluate()\n",
    ),
    "a loop until it is done, of epochs by their name": (
        True,
        True,
        "again",
        "class Reader:\n    done = False\n    def _train_epoch(self):\n        loader = DataLoader(data)  # HERE\n"
        "        print(len(loader))\n    def run(self):\n        while not self.done:\n            self._train_epoch()\n"
        "Reader().run()\n",
    ),
    "a loop that counts, of epochs by their name": (
        True,
        True,
        "again",
        "def run_one_epoch():\n    loader = DataLoader(data)  # HERE\n"
        "for i in range(3):\n    if i:\n        print(i)\n    result = run_one_epoch()\n",
    ),
    "a loop of what happens at the end of an epoch": (
        False,
        False,
        "again",
        "def log_epoch():\n    print(len(DataLoader(data)))  # HERE\nfor i in range(3):\n    log_epoch()\n",
    ),
    "a loop of trainings, by their name": (
        False,
        False,
        "again",
        "def train_epochs():\n    print(len(DataLoader(data)))  # HERE\nfor i in range(3):\n    train_epochs()\n",
    ),
    "a loop of evaluations, by their name": (
        False,
        False,
        "again",
        "def run_val_epoch():\n    print(len(DataLoader(data)))  # HERE\nfor i in range(3):\n    run_val_epoch()\n",
    ),
    "a run": (
        False,
        False,
        "once",
        "for run in range(3):\n    model = nn.Linear(2, 2)\n    loader = DataLoader(data)  # HERE\n",
    ),
    "a run with new weights": (
        False,
        False,
        "once",
        "model = nn.Linear(2, 2)\nfor i in range(3):\n    model.reset_parameters()\n"
        "    loader = DataLoader(data)  # HERE\n    model(torch.ones(2)).sum().backward()\n",
    ),
    "a saved model": (
        False,
        False,
        "once",
        "model = nn.Linear(2, 2)\nfor path in ('a', 'b'):\n    model.load_state_dict(torch.load(path))\n"
        "    loader = DataLoader(data)  # HERE\n",
    ),
    "one of the keys of a dict": (
        False,
        False,
        "once",
        "parts = dict(train=1, val=2)\nfor phase, part in parts.items():\n    if phase == 'val':\n        continue\n"
        "    elif phase == 'train':\n        for i in range(1):\n            model = nn.Linear(2, 2)\n"
        "        loader = DataLoader(data)  # HERE\n",
    ),
    "one of the words of a list in each epoch": (
        True,
        True,
        "again",
        "for epoch in range(3):\n    for phase in ['train', 'val']:\n        if phase == 'train':\n"
        "            loader = DataLoader(data)  # HERE\n",
    ),
    "any of the keys of a dict but one": (
        False,
        False,
        "again",
        "for key, part in dict(a=1, b=2).items():\n    if key == 'a':\n        continue\n"
        "    loader = DataLoader(data)  # HERE\n",
    ),
    "what is kept": (False, False, "once", KEPT),
}


@pytest.mark.parametrize("name", PARTS)
def test_what_repeats_a_place(name: str, tmp_path: Path) -> None:
    is_going_on, is_in_training, often, body = PARTS[name]
    program, place, site = marked(tmp_path, HEAD + body)
    leading = ways(program.ev, place.facts, place.scope, site)
    assert any(going_on(program, way) is not None for way in leading) is is_going_on
    assert any(training_around(program, way) is not None for way in leading) is is_in_training
    assert frequency(program, place.facts, place.scope, site).often is Often(often)


@pytest.mark.parametrize("name", CASES)
def test_how_often_a_place_runs(name: str, tmp_path: Path) -> None:
    often, body = CASES[name]
    program, place, site = marked(tmp_path, HEAD + dedent(body))
    found = frequency(program, place.facts, place.scope, site)
    assert found.often is Often(often), found.reason
    assert bool(found.reason) is (found.often is not Often.ONCE)


def marked(root: Path, text: str) -> tuple[Program, Place, int]:
    """A program, and the call of a loader in its marked line."""
    program = program_of(root, {"train.py": text})
    path = program.root / "train.py"
    facts = program.facts(path)
    assert facts is not None
    line = next(number for number, one in enumerate(text.split("\n"), start=1) if "HERE" in one)
    parsed = program.parsed(path)
    site = next(
        call.site
        for scope in facts.walk_scopes()
        for call, _ in scope.calls
        if text.count("\n", 0, parsed.span(call.site)[0]) + 1 == line
        and "DataLoader" in text[slice(*parsed.span(call.site))].partition("(")[0]
    )
    place = place_of(program.ev, Site(path, site))
    assert place is not None
    return program, place, site


@pytest.mark.parametrize(
    ("elsewhere", "is_fixed"),
    [
        ("self.trainer.datamodule.test_dataloader()", False),
        ("self.trainer.test_dataloaders", True),
    ],
)
def test_a_hook_that_is_called_on_an_unknown_object_runs_as_often_as_that(
    elsewhere: str, is_fixed: bool, tmp_path: Path
) -> None:
    data = """\
import lightning as L
import torch
from torch.utils.data import DataLoader

class Images(L.LightningDataModule):
    def test_dataloader(self):
        return DataLoader(range(100), batch_size=5, shuffle=True)
"""
    train = f"""\
import lightning as L
from data import Images

class Model(L.LightningModule):
    def on_validation_end(self):
        print({elsewhere})

L.seed_everything(1)
L.Trainer(max_epochs=3).fit(Model(), datamodule=Images())
"""
    (tmp_path / "data.py").write_text(data)
    (tmp_path / "train.py").write_text(train)
    (found,) = check([tmp_path], {"select": ("TRL201",)}).findings
    assert (found.fix is not None) is is_fixed
