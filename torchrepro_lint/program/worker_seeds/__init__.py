"""What seeds a worker, and on what that seed depends.

Worker init functions:
worker_init.py        what is passed, and what it seeds; init_walk.py: the walk through one
worker_frames.py      the frames that run in a worker
worker_info.py        what `get_worker_info` gives there
main_process.py       what the main process gives it

What a seed in a worker depends on:
worker_seed.py        the question
dependence.py         its answers; seed_arithmetic.py: what operators make of them
seed_sources.py       what outside calls give
"""
