"""The instruments inside a watched process. They change nothing that the program computes.

recorder.py     who tells what: the process, its step, its window; entries go out in order
quiet.py        asking torch something without the program's modes, or ours, seeing it
places.py       the user's line that led here
states.py       the states of the RNGs
seeds.py        calls that seed
loaders.py      batches, in the process that receives them and in the workers that make them
training.py     losses, gradients, parameters
operations.py   stage 2: every operation of torch, with those of the backward pass
draws.py        stage 2: numbers drawn from `random` and NumPy
processes.py    forks, processes of multiprocessing, exits, and what cannot be watched
contention.py   a second stream that keeps a GPU busy
install.py      puts them in place
"""
