"""The working of a verdict as JSON: what `turnjudge explain --format json` prints and the page's 왜? shows."""

from collections.abc import Iterable
from typing import Any

from rules.places import Piece, Span
from rules.working import NameMet, RoleMet, SpeechMet, TermMet, Working
from service.working.words import because


def shape(working: Working) -> dict[str, Any]:
    """Return a working as a value of JSON.

    Offsets (`start` included, `end` not) are code points of the reply as it came; those of `asked`, of the user's
    message. All words in Latin letters are of closed lists.

    - `results`: the five verdicts in the order they are asked, each `check` (null for 설정대로 말함), `verdict`,
      `state` (decided, held_later, nothing, not_compared), `gap` (why nothing was compared, else null: no_reply,
      no_names, no_hangul, level_unclear, not_asked, no_message, no_role, not_named) and `because`, Korean for people.
    - `terms`: null without a reply, else the lexicon's rows met, in its order: `term`, `topic`, `forbidden`, `tier`
      (hit, review, null where no place counts), `places`: `start`, `end`, `way` (whole, spelled, spaced), `tier` and
      `unmet` (why it does not count: except, part).
    - `names`: null without a list of names, else each once: `name`, `canon` (null: off canon), `way` (whole, tail,
      surname), `places`.
    - `speech`: `level`, `expected`, `observed`, `level_differs`, `person_compared`, `person_differs`, and `pieces`:
      `start`, `end`, `last` (its last word's place) and `heard`: the words that told a level: `start`, `end`, `level`,
      `told` (ending, inside, answer, strong, cried, humble, address, jamo).
    - `roles`: null where no recall is compared, else the roles asked with, in the card's order: `role`, `entity`,
      `way` (whole, class, kind), `asked`, `source_turn` (null: not named before), `answered`, `unsure`, `said`.
    """
    met = working.met
    return {
        "results": [result._asdict() | {"because": because(result, working)} for result in working.results],
        "terms": None if met.terms is None else [_term(term) for term in met.terms],
        "names": None if met.names is None else [_name(name) for name in met.names],
        "speech": _speech(met.speech),
        "roles": None if met.roles is None else [_role(role) for role in met.roles],
    }


def _term(term: TermMet) -> dict[str, Any]:
    places = [
        place.place._asdict() | {"way": place.way, "tier": place.tier, "unmet": place.unmet} for place in term.places
    ]
    return term._asdict() | {"places": places}


def _name(name: NameMet) -> dict[str, Any]:
    return name._asdict() | {"places": _spans(name.places)}


def _speech(speech: SpeechMet) -> dict[str, Any]:
    row = speech._asdict()
    del row["pieces"]
    return row | {"pieces": [_piece(piece) for piece in speech.pieces]}


def _piece(piece: Piece) -> dict[str, Any]:
    heard = [word.place._asdict() | {"level": word.level, "told": word.told} for word in piece.heard]
    return piece.place._asdict() | {"last": piece.last._asdict(), "heard": heard}


def _role(role: RoleMet) -> dict[str, Any]:
    return role._asdict() | {"asked": _spans(role.asked), "said": _spans(role.said)}


def _spans(spans: Iterable[Span]) -> list[dict[str, int]]:
    return [span._asdict() for span in spans]
