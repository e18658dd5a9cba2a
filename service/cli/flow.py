"""The options that say who judges a logical flow: a file of answers, or a model, and by how many votes."""

import re
from typing import Final, NamedTuple

import click

from rules.oracle.flow import MAJORITY, Quorum
from service.cli.options import gathered
from service.errors import OperatorError
from service.files.readers import STDIN
from service.llm.settings import LlmSettings
from service.settings import load_settings

MOST_VOTES: Final = 25
_BALLOT: Final = re.compile(r"(?:([1-9]\d?)/)?([1-9]\d?)", re.ASCII)


class Ballot(NamedTuple):
    """How many opinions of a step are asked for, and how many must pass it; `given` is how that was said."""

    quorum: Quorum
    asked: int
    given: str


class Flow(NamedTuple):
    """Who judges flows: a file of answers, or a model where there are settings of one; `save` keeps its answers."""

    answers: str | None
    model: LlmSettings | None
    ballot: Ballot
    save: str | None

    @property
    def at_once(self) -> int:
        """How many cases keep a model busy."""
        return 1 if self.model is None else -(-self.model.llm_concurrency // self.ballot.asked)


_OPTIONS: Final = (
    click.option(
        "--flow-answers",
        metavar="FILE",
        help="Answers to flow steps, JSONL: {id, step, pass, quote, reason, attempt}; several to a step are votes.",
    ),
    click.option(
        "--flow-model",
        is_flag=True,
        help="Ask the model of TURNJUDGE_LLM_URL about each step. With neither, a case with a flow is an ERROR.",
    ),
    click.option(
        "--votes",
        metavar="K/N",
        help="Ask the model N times a step, of which K must pass it; N alone is more than half of N. Of fewer votes "
        f"that count, no smaller share. 1 if not given, {MOST_VOTES} at most. Votes differ only at a temperature "
        "(TURNJUDGE_LLM_TEMPERATURE) over 0. With --flow-answers, the share of the answers there.",
    ),
    click.option(
        "--save-answers",
        metavar="FILE",
        help="Write what the model answered, JSONL for --flow-answers: the same run without a model.",
    ),
)


def _flow(flow_answers: str | None, flow_model: bool, votes: str | None, save_answers: str | None) -> Flow:
    """Hold the options against each other; settings of a model are read only where one is asked.

    Raises:
        OperatorError: options that exclude each other, votes that cannot be, or a setting that is wrong or missing.
    """
    if flow_answers is not None and flow_model:
        raise OperatorError("--flow-model and --flow-answers: expected one of them")
    if flow_answers is None and votes is not None and not flow_model:
        raise OperatorError("--votes: expected --flow-model or --flow-answers with it")
    if save_answers is not None and not flow_model:
        raise OperatorError("--save-answers: expected --flow-model with it")
    if save_answers == STDIN:
        raise OperatorError("--save-answers: expected a file, since the report has stdout")
    ballot = _ballot("1" if votes is None else votes)
    return Flow(flow_answers, load_settings(LlmSettings) if flow_model else None, ballot, save_answers)


def _ballot(given: str) -> Ballot:
    """Read `K/N`, or `N` for more than half of N."""
    found = _BALLOT.fullmatch(given)
    least, count = (int(found[1] or 1), int(found[2])) if found else (1, 0)
    if found is None or least > count or count > MOST_VOTES:
        raise OperatorError(f"--votes: expected N or K/N, with K from 1 to N and N at most {MOST_VOTES}")
    return Ballot(Quorum(least, count) if found[1] else MAJORITY, count, given)


# Gives a command the options of who judges flows, as one argument `flow`.
judging_flows: Final = gathered("flow", _OPTIONS, _flow)
