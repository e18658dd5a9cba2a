"""Prompts that several models answered: which turns are one prompt's, and the models compared as the command does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine

from review.store.desk import Version, batch, judged, put, refused, turn
from schemas.refusal import Reason, Refusal
from schemas.turn import Turn
from schemas.verdict import VerdictWord
from service.evaluate import prompts as command
from service.evaluate.judging import Identity, Judged
from service.review.store import loads, prompts
from service.review.store.opening import reading, writing
from service.review.store.prompts import Answered, Shared
from service.review.store.writing import write

KEPT, WRONG = VerdictWord.KEPT.value, VerdictWord.SPEECH_BROKEN.value
BY_ID, BY_MESSAGE = turn(prompt_id="P-1"), turn(prompt_id=None, user_message="안녕?")


@pytest.mark.parametrize(
    ("one", "other", "of_file", "same"),
    [
        (BY_ID, BY_ID._replace(user_message="다른 말", model_id="n"), False, True),
        (BY_ID, BY_ID._replace(prompt_id="P-2"), False, False),
        (BY_ID, BY_ID._replace(character_id="D"), False, False),
        (BY_MESSAGE, BY_MESSAGE._replace(model_id="n"), True, True),
        (BY_MESSAGE, BY_MESSAGE._replace(user_message="안녕?"), True, True),
        (BY_MESSAGE, BY_MESSAGE._replace(user_message="안녕"), True, False),
        (BY_MESSAGE, BY_ID._replace(prompt_id="안녕?"), True, False),
    ],
)
def test_turns_of_one_prompt_have_one_key(one: Turn, other: Turn, of_file: bool, same: bool) -> None:
    first, second = (prompts.prompt_key(each, of_file=of_file) for each in (one, other))
    assert first is not None
    assert (first == second) is same


def test_the_message_of_a_live_chat_is_no_prompt() -> None:
    assert prompts.prompt_key(BY_MESSAGE, of_file=False) is None
    assert prompts.prompt_key(turn(prompt_id=" ", user_message=None), of_file=True) is None


def answer(prompt: str, model: str, verdict: str | None, turn_id: str, character: str = "C") -> Version:
    of = turn(turn_id, model_id=model, prompt_id=prompt, character_id=character)
    return refused(of) if verdict is None else judged(of, verdict)


ANSWERS = [
    answer("P-1", "a", KEPT, "T-1"), answer("P-1", "b", WRONG, "T-2"),
    answer("P-2", "a", KEPT, "T-3"), answer("P-2", "b", WRONG, "T-4"),
    answer("P-3", "a", WRONG, "T-10"), answer("P-3", "a", KEPT, "T-9"), answer("P-3", "b", KEPT, "T-8"),
    answer("P-4", "a", None, "T-11"), answer("P-4", "b", KEPT, "T-12"),
    answer("P-5", "a", WRONG, "T-13"),
    answer("P-6", "a", WRONG, "T-14", "D"), answer("P-6", "b", KEPT, "T-15", "D"),
]  # fmt: skip


def test_models_are_compared_on_what_both_answered_first(engine: Engine) -> None:
    put(engine, *ANSWERS)
    with reading(engine) as connection:
        found = prompts.answered(connection, None)
        of_one = prompts.answered(connection, "D")
    assert prompts.models_of(found) == ("a", "b")
    assert prompts.shared(found, ("a", "b")) == Shared(("a", "b"), 4, (1, 2), {(0, 1): (1, 2)}, 0, 1)
    assert of_one == [Answered({"a": WRONG, "b": KEPT}, 1)]


def test_turns_of_files_are_compared_by_the_message_across_loads(engine: Engine) -> None:
    for number, model in enumerate(("a", "b", "c")):
        load_id = loads.begin(engine, "upload", model, "me", 1)
        assert load_id is not None
        with writing(engine) as connection:
            of = turn(f"T-{number}", model, model_id=model)
            write(connection, batch(judged(of, KEPT if model == "a" else WRONG)), load_id)
        loads.finish(engine, load_id, {}, 1)
    put(engine, judged(turn("T-9", "live", model_id="d"), KEPT))
    with reading(engine) as connection:
        found = prompts.answered(connection, None)
    assert prompts.shared(found, prompts.models_of(found)).mismatched == (0, 1, 1)
    assert prompts.models_of(found) == ("a", "b", "c")


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        ([], ()),
        ([("ab", 5)], ("a", "b")),
        ([("ab", 5), ("abc", 1)], ("a", "b", "c")),
        ([("ab", 50), ("abc", 1)], ("a", "b")),
        ([("ab", 5), ("cd", 9)], ("c", "d")),
    ],
)
def test_the_models_that_most_prompts_share_are_compared(
    sets: list[tuple[str, int]], expected: tuple[str, ...]
) -> None:
    assert prompts.models_of([Answered(dict.fromkeys(names, KEPT), count) for names, count in sets]) == expected


def test_prompts_that_some_models_left_out_are_counted() -> None:
    found = [
        Answered({"a": KEPT, "b": KEPT}, 3),
        Answered({"b": KEPT, "c": WRONG}, 4),
        Answered({"c": KEPT, "d": None}, 5),
    ]
    assert prompts.shared(found, ("a", "b")) == Shared(("a", "b"), 3, (0, 0), {(0, 1): (0, 0)}, 4, 0)


TABLES = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from("abc"), st.sampled_from([KEPT, WRONG, None])), min_size=1, max_size=20
)


@given(rows=TABLES)
def test_the_page_compares_as_the_command_does(rows: list[tuple[int, str, str | None]]) -> None:
    turns = [turn(f"T-{n}", model_id=model, prompt_id=f"P-{p}") for n, (p, model, _) in enumerate(rows)]
    refusal = Refusal(Reason.UNKNOWN_CHARACTER, "x")
    given_rows = [
        Judged(n, Identity(*of[:4]), of, {"verdict": word} if word else refusal)
        for n, (of, (_, _, word)) in enumerate(zip(turns, rows, strict=True))
    ]
    pairing = command.paired(given_rows, ())
    whole = [prompt for prompt in pairing.prompts if None not in prompt.words]
    first: dict[str, dict[str, str | None]] = {}
    for of, (_, model, word) in zip(turns, rows, strict=True):
        first.setdefault(str(prompts.prompt_key(of, of_file=False)), {}).setdefault(model, word)
    found = prompts.shared([Answered(each, 1) for each in first.values()], pairing.models)
    assert found.prompts == len(whole)
    assert found.mismatched == tuple(
        sum(prompt.words[place] != KEPT for prompt in whole) for place in range(len(pairing.models))
    )
