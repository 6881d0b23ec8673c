"""English words whose forms no stemmer unites, and verbs that are written in one word or in two.

Verbs of any talk (`went`, `said`, `took`) are in most sessions and tell nothing: searching for all their forms moves
the right session down.  So their forms are only searched where the word itself is rare.
"""

from __future__ import annotations

#: The forms of one word on each line; the first one also has the regular forms in -s and -ing.
_FORMS = """
begin began begun
bind bound
break broke broken
build built
catch caught
choose chose chosen
draw drew drawn
find found
forget forgot forgotten
freeze froze frozen
grow grew grown
hang hung
hide hid hidden
hold held
lose lost
rebuild rebuilt
resend resent
rerun reran
rewrite rewrote rewritten
run ran
seek sought
send sent
shake shook shaken
shrink shrank shrunk
spin spun
steal stole stolen
tear tore torn
throw threw thrown
undo undid undone
wake woke woken
withdraw withdrew withdrawn
write wrote written
overwrite overwrote overwritten
override overrode overridden
appendix appendices
axis axes
analysis analyses
basis bases
child children
crisis crises
criterion criteria
foot feet
goose geese
half halves
hypothesis hypotheses
index indices
knife knives
leaf leaves
life lives
man men
matrix matrices
medium media
mouse mice
parenthesis parentheses
person people
phenomenon phenomena
schema schemata
shelf shelves
synthesis syntheses
thesis theses
tooth teeth
vertex vertices
wife wives
woman women
"""
#: The same of verbs that are common in any talk.
_COMMON = """
become became
bring brought
buy bought
come came
deal dealt
drive drove driven
eat ate eaten
fall fell fallen
feed fed
feel felt
fight fought
flee fled
fly flew flown
get got gotten
give gave given
go went gone
keep kept
know knew known
lead led
leave left
lend lent
make made
mean meant
meet met
pay paid
rise rose risen
say said
see saw seen
sell sold
shoot shot
show showed shown
sing sang sung
sink sank sunk
sleep slept
speak spoke spoken
spend spent
stand stood
stick stuck
strike struck
swear swore sworn
swim swam swum
swing swung
take took taken
teach taught
tell told
think thought
understand understood
wear wore worn
win won
"""
#: Verbs with a particle that are also nouns.
_SEPARABLE = frozenset(
    "backup breakdown buildup callback checkin checkout cleanup countdown cutoff dropdown fallback feedback followup "
    "handoff kickoff layout lineup lockout login logoff logon logout lookup makeup markup meetup mockup pickup "
    "playback plugin popup printout rollback rollout setup shutdown signin signoff signout signup slowdown speedup "
    "spinup standby startup takeover teardown timeout tradeoff warmup workaround wrapup writeup".split()
)
#: Particles, longer ones first, as `workaround` ends with `round`, too.
_PARTICLES = ("around", "back", "down", "over", "out", "off", "up", "in", "on", "by")


def other_forms(word: str, *, is_rare: bool = False) -> tuple[str, ...]:
    """Return the irregular forms of an English word, without itself; its regular forms have one stem anyway.

    :param is_rare: also of verbs that are common in any talk.
    """
    return (*_forms(word, _FORMS), *(_forms(word, _COMMON) if is_rare else ()))


def _forms(word: str, table: str) -> tuple[str, ...]:
    lower = word.lower()
    found: list[str] = []
    for form in filter(None, (lower, *_bases(lower))):
        start = -1
        while (start := table.find(form, start + 1)) >= 0:
            line = table[table.rfind("\n", 0, start) + 1 : table.find("\n", start)].split()
            if form == line[0] or (form == lower and form in line):
                found += (other for other in line if other not in (lower, form) and other not in found)
    return tuple(found)


def in_two_words(word: str) -> str | None:
    """Return a noun such as `setup` as its verb, `set up`; None if it is no such noun."""
    if (lower := word.lower()) not in _SEPARABLE:
        return None
    particle = next(particle for particle in _PARTICLES if lower.endswith(particle))
    return f"{word[: -len(particle)]} {word[-len(particle) :]}"


def is_particle(word: str) -> bool:
    """Return whether a word may follow a verb to which it belongs."""
    return word.lower() in _PARTICLES


def _bases(word: str) -> tuple[str, ...]:
    """Return what a word may be a form of, in -s or in -ing."""
    if word.endswith("ing"):
        stem = word[:-3]
        doubled = (stem[:-1],) if len(stem) > 1 and stem[-1] == stem[-2] else ()
        return (stem, f"{stem}e", *doubled) if stem else ()
    if word.endswith("s"):
        return (word[:-1], word[:-2]) if word.endswith("es") else (word[:-1],)
    return ()
