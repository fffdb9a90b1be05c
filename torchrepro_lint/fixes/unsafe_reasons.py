"""Why a fix is unsafe: what could change, or be left, for whoever merges it unread. One table for all fixes.

A text goes on from what the fix does: "Set it to False: a comment beside it may become false".
"""

from __future__ import annotations

from typing import Final, TypeAlias

__all__ = ["ALWAYS", "Because", "first_that_holds"]

Because: TypeAlias = str

COMMENTED: Final[Because] = "a comment or a text beside the value may become false"
IN_A_TEST: Final[Because] = "it is in a test, which may check what the fix would change"
IN_A_SELF_TEST: Final[Because] = "only a self-test of the file runs it"
NOT_THE_PROJECT_S: Final[Because] = (
    "the file is documentation, copied or put aside, or measures times: its numbers may be meant as they are"
)
UNMADE: Final[Because] = "nothing in sight makes an object of the class"
ONLY_EVALUATES: Final[Because] = "the program only evaluates, and its results would be other ones"

NUMBER: Final[Because] = "the program has no seed: the number in the fix is one that nobody chose"
FALLS_BACK: Final[Because] = "runs without a seed of their own would all get the number in the fix"
COPIED: Final[Because] = "the number is a copy: it stays what it is when the program gets another seed"
OPTION_UNREAD: Final[Because] = "the option is one that the program seeds nothing with so far"
DRAWN_SEEDS: Final[Because] = "several loaders are made there, and each draws its seed from torch"
BARE_NUMBER: Final[Because] = "the seed has a number that only tells the loaders apart"
LONG_RANK: Final[Because] = "the rank has to be asked for there, or may meet the number that tells the loaders apart"
SEEDED_ANEW: Final[Because] = "the program sets this seed again later, and the generator keeps the old one"
FAR_ABOVE: Final[Because] = "the generator would be made far above the loader"
ONE_OF_MANY: Final[Because] = "many loaders of the file need a generator each: one object for them all reads better"
LEAVES_OTHERS: Final[Because] = "another loader of the file goes on without"
LEFT_OUT: Final[Because] = "a loader or sampler beside it is left as it is, perhaps on purpose"
SAME_START: Final[Because] = "orders that differ from each other now would begin with the same numbers"
HIDDEN_NAME: Final[Because] = "a module has to be imported under another name"
UNSEEDED_WORKERS: Final[Because] = "what workers draw is left unseeded, so runs would differ all the same"
SAME_ORDER: Final[Because] = (
    "a loop goes through it beside a loader of another file, which would get the same seed and so the same order"
)
STATE_RESTORED: Final[Because] = "the program restores torch's state, and not that of a new generator"
ANOTHER_ORDER: Final[Because] = "another order beside it is left to torch's global generator"
OWN_NUMBERS: Final[Because] = "the numbers are meant to differ from run to run, by what stands beside them"
RANKS_APART: Final[Because] = "workers of two ranks, which draw apart now, may get the same seed"
RANKS_ALIKE: Final[Because] = "what each rank draws by itself now would be the same in all"
READS_MORE: Final[Because] = "the function reads more than the worker id, and that would have no use any more"
OWN_SEEDS: Final[Because] = "the seeds that the function chooses, perhaps with a rank in them, are given up"
PARAMETER: Final[Because] = "the function is also named elsewhere, where a new parameter may not fit"
EVALUATION: Final[Because] = "the loader is for an evaluation, whose results would be other ones"
CHOICE: Final[Because] = "a comment says that the seed is for one choice, not for the run"
TAKEN_OUT: Final[Because] = "the line is there as a comment: somebody has taken it out"
FOR_OTHERS: Final[Because] = "the code is a library, whose users have seeds and speeds of their own"
ASKS_TORCH: Final[Because] = "the file would import torch only to ask for a seed that another file sets"
ANOTHER_SEED: Final[Because] = "the program has another seed, which would not decide these draws"
OTHER_PART: Final[Because] = "the seed is that of a part of the program without torch"
TEXT_SEED: Final[Because] = "the seed may be a text that is no number"
ONE_ARM: Final[Because] = "runs in the other arm of the `if` would be left unseeded"
EACH_TURN: Final[Because] = "each turn of a loop would draw the same numbers"
LOCAL_SEED: Final[Because] = "the seed is for the draws below it, the cell, the object or the file, not for the run"
ELEMENTS: Final[Because] = "what is listed or iterated may not be comparable, or is read one by one as it comes"
SORTED_PART: Final[Because] = "another listing that has to keep the same order may be left as it is"
DRAWN_SPLIT: Final[Because] = "the split is then drawn without a seed, so runs would differ all the same"
SLOWER: Final[Because] = "runs would take longer, or a raise end them: the program has not asked for that"
NOT_ASKED: Final[Because] = "the program seeds its numbers, and has not asked for slower algorithms that repeat"
SOME_RUNS: Final[Because] = "only some runs ask for determinism"
SWITCHED_ON: Final[Because] = "a switch that has had no effect so far would get one"
UNKNOWN_MODULE: Final[Because] = (
    "the program imports a module from a folder that its text does not tell, and that may seed or switch something too"
)
OPTION_DECIDES: Final[Because] = "an option decides the switch"
ANY_ORDER: Final[Because] = "one of the places that the fix changes together is unsafe by itself"

#: What the fix of a rule always changes, or what it is for where no other reason is given, by the code of the rule.
ALWAYS: Final[dict[str, Because]] = {
    "TRL102": OWN_SEEDS,
    "TRL103": OWN_SEEDS,
    "TRL104": OWN_SEEDS,
    "TRL107": "the data set draws other numbers in each worker and epoch, so results change",
    "TRL108": "the items draw other numbers, so results change",
    "TRL109": "the workers draw other numbers, so results change",
    "TRL111": "the ranks draw other numbers, so results change",
    "TRL206": "each epoch gets another order, so results change",
    "TRL207": ELEMENTS,
    "TRL208": ELEMENTS,
    "TRL210": "checkpoints get another content, and older ones may lack it",
    "TRL211": "checkpoints get another content, and older ones may lack it",
    "TRL214": "the hashes become other ones, so what is split or cached by them changes once",
    "TRL302": SLOWER,
    "TRL303": SLOWER,
    "TRL304": "operations that only warn so far would raise an error",
    "TRL402": "operations without a deterministic implementation would raise an error, and others be slower",
    "TRL405": "the gradients change, and the state of the generators is saved for each recomputation",
    "TRL501": NUMBER,
    "TRL503": "runs that differ now would all draw the same numbers",
    "TRL508": "results of evaluations change",
    "TRL510": "the search proposes other settings, the same ones in every run",
    "TRL511": "the environments begin with the same states in every run",
}


def first_that_holds(*conditions: tuple[bool, Because]) -> Because | None:
    """The reason of the first condition that holds; None where a fix is safe."""
    return next((because for holds, because in conditions if holds), None)
