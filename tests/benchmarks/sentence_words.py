"""Words of the sentences of which TPC-H makes comments (specification 3.0.1, section 4.2.2.14), or some of them."""

from __future__ import annotations

NOUNS = [
    "foxes", "ideas", "theodolites", "pinto", "beans", "instructions", "dependencies", "excuses", "platelets",
    "asymptotes", "courts", "dolphins", "multipliers", "sauternes", "warthogs", "frets", "dinos", "attainments",
    "somas", "braids", "hockey", "players", "frays", "warhorses", "dugouts", "notornis", "epitaphs", "pearls",
    "tithes", "waters", "orbits", "gifts", "sheaves", "depths", "sentiments", "decoys", "realms", "pains",
    "grouches", "escapades", "requests", "packages", "accounts", "deposits",
]  # fmt: skip
VERBS = [
    "sleep", "wake", "are", "cajole", "haggle", "nag", "use", "boost", "affix", "detect", "integrate",
    "maintain", "nod", "was", "lose", "sublate", "solve", "thrash", "promise", "engage", "hinder", "print",
    "x-ray", "breach", "eat", "grow", "impress", "mold", "poach", "serve", "run", "dazzle", "snooze", "doze",
    "unwind", "kindle", "play", "hang", "believe", "doubt",
]  # fmt: skip
ADJECTIVES = [
    "furious", "sly", "careful", "blithe", "quick", "fluffy", "slow", "quiet", "ruthless", "thin", "close",
    "dogged", "daring", "brave", "stealthy", "permanent", "enticing", "idle", "busy", "regular", "final",
    "ironic", "even", "bold", "silent", "special", "pending", "unusual", "express",
]  # fmt: skip
ADVERBS = [
    "sometimes", "always", "never", "furiously", "slyly", "carefully", "blithely", "quickly", "fluffily",
    "slowly", "quietly", "ruthlessly", "thinly", "closely", "doggedly", "daringly", "bravely", "stealthily",
    "permanently", "enticingly", "idly", "busily", "regularly", "finally", "ironically", "evenly", "boldly",
    "silently",
]  # fmt: skip
