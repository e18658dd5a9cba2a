"""`turnjudge lexicon` and `turnjudge cards`: what creators shape their lexicons and cards with, in Korean."""

from collections import Counter

import click
import orjson

from service.workshop.cards import lint_cards
from service.workshop.finding import Finding, Weight, in_columns, in_words
from service.workshop.terms import lint_lexicon

_FORMAT = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "jsonl"]),
    default="text",
    show_default=True,
    help="How findings are shown.",
)
_STRICT = click.option("--strict", is_flag=True, help="Exit 1 also when there are only rows to look at.")


@click.group()
def lexicon() -> None:
    """Check and try a topic lexicon. What these commands find is said in Korean."""


@lexicon.command("lint")
@click.argument("lexicon_file", metavar="LEXICON")
@_FORMAT
@_STRICT
def lint_lexicon_file(lexicon_file: str, form: str, strict: bool) -> None:
    """Find terms of LEXICON (JSONL, or CSV by its name; - is JSONL from stdin) that do not work as written.

    Blank, duplicate, padded, glued and NFD terms, terms inside other terms, terms of one syllable, known homographs,
    and contexts that lack their term, each as file:line and what to do. The exit code is 1 when something is to be
    put right (고칠 것), 0 when there are only rows to look at (살펴볼 것).
    """
    _show(*lint_lexicon(lexicon_file), form, strict)


@click.group()
def cards() -> None:
    """Check character cards. What these commands find is said in Korean."""


@cards.command("lint")
@click.argument("cards_file", metavar="CARDS")
@click.option("--lexicon", "lexicon_file", metavar="FILE", help="Ask also whether each forbidden topic has rows here.")
@_FORMAT
@_STRICT
def lint_cards_file(cards_file: str, lexicon_file: str | None, form: str, strict: bool) -> None:
    """Find in CARDS (JSONL, or CSV by its name; - is JSONL from stdin) what will be judged otherwise than meant.

    Roles inside one another, entities of roles that are not canon, canon names that are common words or stand inside
    one another, a first person at odds with the honorific rule, forbidden topics without lexicon rows. The exit code is
    1 when something is to be put right (고칠 것), 0 when there are only cards to look at (살펴볼 것).
    """
    _show(*lint_cards(cards_file, lexicon_file), form, strict)
    if lexicon_file is None:
        click.echo("--lexicon 파일을 주면 금지 소재마다 사전에 낱말이 있는지도 봅니다.", err=True)


def _show(file: str, findings: list[Finding], form: str, strict: bool) -> None:
    for finding in findings:
        click.echo(in_words(file, finding) if form == "text" else orjson.dumps(in_columns(file, finding)))
    weights = Counter(finding.weight for finding in findings)
    counts = ", ".join(f"{weight} {weights[weight]:,}건" for weight in Weight)
    click.echo(counts if findings else "걸리는 데가 없습니다.", err=True)
    if weights[Weight.FIX] or (strict and findings):
        click.get_current_context().exit(1)
