"""The instruments inside a watched process. They change nothing that the program computes.

recorder.py     records entries, each with the process and its step; knows the window that is recorded
entry_queue.py  entries that wait for a device, on their way to the file
limit.py        ends a process after a number of optimizer steps
threads.py      how far each thread has come
effects.py      where the program uses what a perturbation varies
quiet.py        calls torch so that neither the program's modes nor ours see it
places.py       the line of the user's code that led here
states.py       the states of the RNGs
seeds.py        calls that seed
loaders.py      batches, in the process that receives them and in the workers that make them
training.py     losses, gradients, parameters; parameter_names.py names them
settings.py     what a step is made with, where a training is resumed
collectives.py  what all ranks call together
evaluation.py   the weights that are evaluated
operations.py   stage 2: every operation of torch, with those of the backward pass
draws.py        stage 2: numbers drawn from `random` and NumPy
printed.py      the lines that the program prints
arrivals.py     stage 2: results taken in the order of completion, and hash()
processes.py    forks, processes of multiprocessing, exits, and what cannot be watched
contention.py   a second stream that keeps a GPU busy
install.py      installs all of them
"""
