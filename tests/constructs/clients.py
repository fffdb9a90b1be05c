"""The analyses that follow a value, each as the two ends of a way: where the value begins, and where it matters."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent

#: In a sink, where the value that arrives stands.
ARRIVING = "VALUE"


@dataclass(frozen=True)
class Client:
    """An analysis that follows a value, as code that any construct can be put between.

    `source` is an expression, and `sink` one in which `VALUE` stands for what arrives; with both, `rule` is to be
    reported. With one of `innocent_sources` in the place of the source, or of `innocent_sinks` in that of the sink, it
    is not. `begins` and `ends` are what the modules of the source and of the sink need above their code; `head` and
    `tail` are the first and last lines of the program. `is_plain` says that the value is a number or a text. `proven`
    says that the analysis speaks, or is silent, only where the value is sure, and not what the user may give.
    """

    name: str
    rule: str
    source: str
    sink: str
    innocent_sources: tuple[str, ...] = ()
    innocent_sinks: tuple[str, ...] = ()
    head: str = ""
    begins: str = ""
    ends: str = ""
    tail: str = ""
    is_plain: bool = False
    proven: bool = False

    def __post_init__(self) -> None:
        for part in ("head", "begins", "ends", "tail"):
            object.__setattr__(self, part, dedent(getattr(self, part)).strip("\n"))


SEEDED = "import random\nimport torch\nrandom.seed(0)\ntorch.manual_seed(0)"

TUNED = "import torch\ntorch.manual_seed(0)\ntorch.backends.cudnn.deterministic = True"

CLIENTS = (
    Client(
        "draws in workers",
        "TRL101",
        source="noise",
        sink="load(VALUE)",
        innocent_sources=("plain",),
        head="import torch",
        begins="""
            import numpy as np
            def noise(image):
                return image + np.random.rand()
            def plain(image):
                return image + 1
        """,
        ends="""
            from torch.utils.data import DataLoader, Dataset
            class Images(Dataset):
                def __init__(self, transform):
                    self.transform = transform
                def __len__(self):
                    return 8
                def __getitem__(self, index):
                    return self.transform(index)
            def load(transform):
                return list(DataLoader(Images(transform), num_workers=2))
        """,
    ),
    Client(
        "generators held by datasets",
        "TRL107",
        source="np.random.default_rng(0)",
        sink="load(VALUE)",
        innocent_sources=("np.random",),
        head="import torch",
        begins="import numpy as np",
        ends="""
            from torch.utils.data import DataLoader, Dataset
            class Images(Dataset):
                def __init__(self, rng):
                    self.rng = rng
                def __len__(self):
                    return 8
                def __getitem__(self, index):
                    return index + self.rng.normal()
            def load(rng):
                return list(DataLoader(Images(rng), num_workers=2))
        """,
    ),
    Client(
        "worker init functions",
        "TRL103",
        source="seed_worker",
        sink="load(VALUE)",
        innocent_sources=("seed_apart",),
        head="import torch",
        begins="""
            import numpy as np
            import torch
            def seed_worker(worker_id):
                np.random.seed(42)
            def seed_apart(worker_id):
                np.random.seed(torch.initial_seed() % 2**32)
        """,
        ends="""
            import numpy as np
            from torch.utils.data import DataLoader, Dataset
            class Images(Dataset):
                def __len__(self):
                    return 8
                def __getitem__(self, index):
                    return index + np.random.rand()
            def load(init):
                return list(DataLoader(Images(), num_workers=2, worker_init_fn=init))
        """,
    ),
    Client(
        "unseeded torch generators",
        "TRL203",
        source="torch.Generator()",
        sink="load(VALUE)",
        innocent_sources=("torch.Generator().manual_seed(0)",),
        innocent_sinks=("load_seeded(VALUE)",),
        head=SEEDED,
        begins="import torch",
        ends="""
            import torch
            from torch.utils.data import DataLoader, TensorDataset
            def load(generator):
                return list(DataLoader(TensorDataset(torch.arange(16)), shuffle=True, generator=generator))
            def load_seeded(generator):
                generator.manual_seed(0)
                load(generator)
        """,
    ),
    Client(
        "unseeded generators",
        "TRL503",
        source="np.random.default_rng()",
        sink="print(VALUE.permutation(8))",
        innocent_sources=("np.random.default_rng(0)",),
        head=SEEDED + "\nimport numpy as np\nnp.random.seed(0)",
        begins="import numpy as np",
    ),
    Client(
        "seeds from the clock",
        "TRL503",
        is_plain=True,
        source="int(time.time())",
        sink="start(VALUE)",
        innocent_sources=("7",),
        begins="import time",
        ends="""
            import torch
            def start(number):
                torch.manual_seed(number)
                print(torch.rand(2))
        """,
    ),
    Client(
        "ranks in seeds",
        "TRL111",
        source="7",
        sink="torch.manual_seed(VALUE)",
        innocent_sources=("7 + dist.get_rank()",),
        head="""
            import random
            import torch
            import torch.distributed as dist
            from torch.utils.data import DataLoader, Dataset, DistributedSampler
            class Images(Dataset):
                def __len__(self):
                    return 8
                def __getitem__(self, index):
                    return index + random.random()
            dist.init_process_group("gloo")
        """,
        begins="import torch.distributed as dist",
        ends="import torch",
        tail="""
            images = Images()
            loader = DataLoader(images, sampler=DistributedSampler(images), num_workers=2)
            print(list(loader))
        """,
        is_plain=True,
    ),
    Client(
        "order of listings",
        "TRL207",
        source="os.listdir('d')",
        sink="random.shuffle(VALUE)",
        innocent_sources=("sorted(os.listdir('d'))",),
        innocent_sinks=("shuffle_sorted(VALUE)",),
        head=SEEDED,
        begins="import os",
        ends="""
            import random
            def shuffle_sorted(listed):
                listed.sort()
                random.shuffle(listed)
        """,
    ),
    Client(
        "order of sets",
        "TRL208",
        source="set(open('words').read().split())",
        sink="number(VALUE)",
        innocent_sources=("sorted(set(open('words').read().split()))",),
        head=SEEDED,
        ends="""
            def number(words):
                numbers = {word: index for index, word in enumerate(words)}
                print(numbers)
                return numbers
        """,
    ),
    Client(
        "permutations that split",
        "TRL202",
        source="torch.randperm(16)",
        sink="Subset(whole, VALUE[:12])",
        innocent_sources=("torch.randperm(16, generator=torch.Generator().manual_seed(0))",),
        head=SEEDED + "\nprint(torch.rand(2))",
        begins="import torch",
        ends="from torch.utils.data import Subset\nwhole = list(range(16))",
    ),
    Client(
        "generators of splits",
        "TRL204",
        source="torch.default_generator",
        sink="random_split(whole, [12, 4], generator=VALUE)",
        innocent_sources=("torch.Generator().manual_seed(0)",),
        head=SEEDED,
        begins="import torch",
        ends="from torch.utils.data import random_split\nwhole = list(range(16))",
    ),
    Client(
        "samplers of epochs",
        "TRL206",
        source="DistributedSampler(range(16), num_replicas=2, rank=0, shuffle=True)",
        sink="train(VALUE)",
        innocent_sources=("DistributedSampler(range(16), num_replicas=2, rank=0, shuffle=False)",),
        head=SEEDED,
        begins="from torch.utils.data.distributed import DistributedSampler",
        ends="""
            from torch.utils.data import DataLoader
            def train(sampler):
                loader = DataLoader(range(16), batch_size=4, sampler=sampler)
                for epoch in range(3):
                    for batch in loader:
                        print(batch)
        """,
    ),
    Client(
        "switches",
        "TRL301",
        source="True",
        sink="tune(VALUE)",
        innocent_sources=("False",),
        head=TUNED,
        ends="""
            import torch
            def tune(on):
                torch.backends.cudnn.benchmark = on
        """,
        proven=True,
    ),
    Client(
        "arguments of operations",
        "TRL402",
        source="'bilinear'",
        sink="functional.interpolate(image, scale_factor=2, mode=VALUE).sum().backward()",
        innocent_sources=("'nearest'",),
        head=TUNED,
        ends="""
            import torch
            from torch.nn import functional
            image = torch.rand(1, 3, 8, 8, device="cuda", requires_grad=True)
        """,
        proven=True,
    ),
    Client(
        "devices",
        "TRL402",
        source="'cuda'",
        sink="print(torch.zeros(3, device=VALUE).index_add_(0, where, torch.rand(3)))",
        innocent_sources=("'cpu'",),
        head=TUNED + "\nprint(torch.zeros(2, device='cuda'))",
        ends="import torch\nwhere = torch.tensor([0, 1, 1])",
        proven=True,
    ),
    Client(
        "checkpoints",
        "TRL210",
        source="{'model': model.state_dict(), 'optimizer': optimizer.state_dict(), 'epoch': 3}",
        sink="torch.save(VALUE, 'last.pt')",
        innocent_sources=(
            "{'model': model.state_dict(), 'optimizer': optimizer.state_dict(), 'epoch': 3, 'rng': torch.get_rng_state()}",
        ),
        head="import torch",
        begins="""
            import torch
            from torch import nn
            model = nn.Linear(2, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        """,
        ends="import torch",
        tail="""
            from torch import nn
            resumed = nn.Linear(2, 2)
            stepping = torch.optim.SGD(resumed.parameters(), lr=0.1)
            state = torch.load("last.pt")
            resumed.load_state_dict(state["model"])
            stepping.load_state_dict(state["optimizer"])
            for epoch in range(state["epoch"] + 1, 5):
                resumed(torch.ones(1, 2)).sum().backward()
                stepping.step()
        """,
    ),
    Client(
        "first weights",
        "TRL504",
        source="nn.Linear(4, 2)",
        sink="model = VALUE\nlearn(model)",
        innocent_sinks=("model = VALUE\nmodel.load_state_dict(torch.load('weights.pt'))\nlearn(model)",),
        head="import torch",
        begins="from torch import nn",
        ends="""
            import torch
            def learn(model):
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                model(torch.ones(1, 4)).sum().backward()
                optimizer.step()
        """,
        tail="torch.manual_seed(0)\nprint(torch.rand(2))",
    ),
    Client(
        "builders called before the seed",
        "TRL504",
        source="build",
        sink="run(VALUE)",
        innocent_sources=("nothing",),
        head="import torch",
        begins="""
            from torch import nn
            def build():
                return nn.Linear(4, 2)
            def nothing():
                return None
        """,
        ends="""
            import torch
            def run(maker):
                made = maker()
                if made is not None:
                    print(torch.optim.SGD(made.parameters(), lr=0.1), made(torch.ones(1, 4)))
        """,
        tail="torch.manual_seed(0)\nprint(torch.rand(2))",
    ),
)
