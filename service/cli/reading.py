"""`turnjudge schema` and `turnjudge rules`: what may be read about records and checks."""

import ast
import json
from importlib.resources import files
from typing import Any, Final

import click

from rules.catalogue import CHECKS
from rules.check import Check
from rules.verify import ITEMS
from schemas import hedge
from schemas.export import RECORDS, committed_text
from schemas.hedge import HedgeCode
from schemas.verdict import VerdictWord
from service.cli.options import format_option

# The heads of a check's dossier, which is its module's docstring.
DOSSIER: Final = ("What it flags", "Why", "Flags", "Passes", "Limits", "Source")


@click.command(epilog=f"Names: {', '.join(RECORDS)}.")
@click.argument("name", type=click.Choice(list(RECORDS)), metavar="NAME")
def schema(name: str) -> None:
    """Print the JSON Schema of the record NAME, as it is frozen in v1."""
    click.echo(committed_text(name), nl=False)


@click.command()
@format_option("text", "json")
def rules(form: str) -> None:
    """Explain the checks in the order they are asked, the hedge codes and the ten items."""
    described = {
        "checks": [_check(place, check) for place, check in enumerate(CHECKS, start=1)],
        "otherwise": VerdictWord.KEPT.value,
        "hedge_codes": [{"code": code.value, "sentence": _sentence(code)} for code in HedgeCode],
        "items": [{"item": item, "looks_at": name} for item, name in enumerate(ITEMS, start=1)],
    }
    if form == "json":
        click.echo(json.dumps(described, ensure_ascii=False, indent=2))
    else:
        _print(described)


def dossier(docstring: str) -> tuple[str, dict[str, str]]:
    """Cut a check's docstring into its first line and the text under each head of `DOSSIER`."""
    first, _, rest = docstring.strip().partition("\n\n")
    parts: dict[str, list[str]] = {}
    for line in rest.splitlines():
        head, colon, text = line.partition(": ")
        if colon and head in DOSSIER:
            parts[head] = [text]
        elif parts:
            parts[list(parts)[-1]].append(line)
    return first, {head: " ".join(" ".join(lines).split()) for head, lines in parts.items()}


def source(check: Check[Any]) -> ast.Module:
    """Read the file of a check; compiled modules have no docstring, but the files stand beside them."""
    return ast.parse(files("rules.checks").joinpath(f"{check.name}.py").read_text(encoding="utf-8"))


def _check(place: int, check: Check[Any]) -> dict[str, Any]:
    first, parts = dossier(ast.get_docstring(source(check)) or "")
    return {"order": place, "name": check.name, "verdict": str(check.verdict), "is": first, "dossier": parts}


def _sentence(code: HedgeCode) -> str:
    sentence: str = getattr(hedge, _SENTENCES.get(code, code.name))
    return sentence


# Where a code has several sentences, the one that is shown.
_SENTENCES: Final = {HedgeCode.FIRST_PERSON_NULL: "FIRST_PERSON_NULL_TURN"}


def _print(described: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    for check in described["checks"]:
        console.print(Text(f"{check['order']}. {check['verdict']} ({check['name']})", style="bold"))
        console.print(Padding(Text(check["is"]), (0, 0, 0, 3)))
        for head, text in check["dossier"].items():
            console.print(Padding(Text.assemble((f"{head}: ", "dim"), text), (0, 0, 0, 3)))
    console.print(Text(f"{len(CHECKS) + 1}. {described['otherwise']}", style="bold"))
    console.print(Padding(Text("The verdict when none of the above holds."), (0, 0, 0, 3)))
    codes = Table("code", title="Hedge: what was not or could not be compared", title_justify="left")
    codes.add_column("sentence", overflow="fold")
    for row in described["hedge_codes"]:
        codes.add_row(row["code"], Text(row["sentence"]))
    items = Table("item", "looks at", title="The ten items every verdict is checked by", title_justify="left")
    for row in described["items"]:
        items.add_row(str(row["item"]), row["looks_at"])
    console.print(codes, items)
