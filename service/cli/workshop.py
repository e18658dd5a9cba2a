"""`turnjudge lexicon` and `turnjudge cards`: what creators shape their lexicons and cards with, in Korean."""

from collections import Counter
from pathlib import Path
from typing import Final

import click
import orjson

from schemas.lexicon import Entry
from service.cli.inputs import refuse_same, say_refused
from service.cli.options import PROFILE_FILE, format_option
from service.decode import Caps
from service.errors import OperatorError
from service.files.readers import Loaded, read_lexicon
from service.files.writing import written
from service.profiles import read_extended
from service.workshop import report
from service.workshop.cards import lint_cards
from service.workshop.finding import Linted, Weight, in_columns, in_words
from service.workshop.same import plain_form
from service.workshop.terms import lint_lexicon
from service.workshop.trying import read_text, try_lexicon
from service.workshop.words import everyday_chat

_FORMAT: Final = format_option("text", "jsonl", meaning="How findings are shown.")
_STRICT: Final = click.option("--strict", is_flag=True, help="Exit 1 also when there are only rows to look at.")


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
    _show(lint_lexicon(lexicon_file), form, strict)


@lexicon.command("try")
@click.argument("lexicon_file", metavar="LEXICON")
@click.option("--on", "text_file", metavar="TEXT", help="Clean chat, a line each; without it, the lines that ship.")
@click.option("--out", metavar="FILE", help="Where the lexicon as proposed goes, JSONL or by its name CSV.")
@click.option(
    "--anywhere",
    multiple=True,
    metavar="TOPIC",
    help="A topic whose terms are meant wherever they stand, as insults are; may be given again. Topics named so "
    "(욕설, 비속어, 비하, 혐오) need not be.",
)
@PROFILE_FILE
@_FORMAT
def try_lexicon_file(
    lexicon_file: str,
    text_file: str | None,
    out: str | None,
    anywhere: tuple[str, ...],
    profile_file: Path | None,
    form: str,
) -> None:
    """Run every term of LEXICON (JSONL, or CSV by its name; - is JSONL from stdin) over clean chat.

    Shows for each term that stands there in how many lines it does, to the letter and as the profile extended takes it,
    the commonest contexts, and a proposal: mode, and except, the contexts in which it is innocent. The lexicon as
    proposed goes to --out, to be read and edited; the column why is passed over by every reader. Lines that TEXT means
    to be about a topic are shown as hits as well: the proposal leaves them to the creator. The profile seed reads
    neither mode nor except. The exit code is 1 when rows were refused.
    """
    refuse_same(lexicon_file, text_file)
    _refuse_unknown(anywhere, loaded := read_lexicon(lexicon_file, Caps()))
    name, lines = ("일상 대화", list(everyday_chat())) if text_file is None else read_text(text_file)
    tried = try_lexicon(loaded.records, lines, read_extended(profile_file), anywhere)
    if form == "jsonl":
        for row in report.in_rows(tried):
            click.echo(orjson.dumps(row))
    else:
        for line in report.in_words(tried, lines, name):
            click.echo(line)
    if out is None:
        click.echo("제안을 사전 파일로 받으려면 --out 파일을 주세요(.csv면 표로 적습니다).", err=True)
    else:
        with written(out) as file:
            file.write(report.proposed(tried, out))
    say_refused(loaded.refused)
    if loaded.refused:
        click.echo("읽지 못한 줄이 있습니다. turnjudge lexicon lint로 까닭을 보세요.", err=True)
        click.get_current_context().exit(1)


def _refuse_unknown(anywhere: tuple[str, ...], lexicon: Loaded[Entry]) -> None:
    topics = {plain_form(entry.topic) for entry in lexicon.records}
    for topic in anywhere:
        if plain_form(topic) not in topics:
            raise OperatorError(f"--anywhere {topic}: expected a topic of the lexicon")


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
    refuse_same(cards_file, lexicon_file)
    _show(lint_cards(cards_file, lexicon_file), form, strict)
    if lexicon_file is None:
        click.echo("--lexicon 파일을 주면 금지 소재마다 사전에 낱말이 있는지도 봅니다.", err=True)


def _show(linted: Linted, form: str, strict: bool) -> None:
    findings = linted.findings
    for finding in findings:
        click.echo(in_words(linted.file, finding) if form == "text" else orjson.dumps(in_columns(linted.file, finding)))
    weights = Counter(finding.weight for finding in findings)
    counts = ", ".join(f"{weight} {weights[weight]:,}건" for weight in Weight)
    click.echo(f"{linted.rows:,}줄을 읽었습니다: {counts if findings else '걸리는 데가 없습니다'}.", err=True)
    if weights[Weight.FIX] or (strict and findings):
        click.get_current_context().exit(1)
