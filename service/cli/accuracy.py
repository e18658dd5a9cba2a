"""`turnjudge accuracy`: the profiles measured on public text that lies beside the project."""

from pathlib import Path

import click
import orjson

from service.cli.options import PROFILE_FILE, format_option
from service.cli.progress import waiting
from service.files.writing import written
from service.profiles import read_extended
from service.workshop.accuracy_sets import FILES, Half


@click.command(epilog=f"Files of the folder: {', '.join(FILES)}.")
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="The folder of the public sets.",
)
@click.option(
    "--half",
    type=click.Choice([half.value for half in Half]),
    default=Half.TEST.value,
    show_default=True,
    help="The half that is measured; nothing is ever tuned on the test half.",
)
@click.option("--seed", default=1, show_default=True, help="Draws the replies that are joined of two rows.")
@click.option("--errors", metavar="FILE", help="Where the single errors go, as JSONL with their texts.")
@format_option("text", "json")
@PROFILE_FILE
def accuracy(data: Path, half: str, seed: int, errors: str | None, form: str, profile_file: Path | None) -> None:
    """Measure the profiles seed and extended on public Korean text: speech, stresses, terms.

    Prints confusion counts, shares with Wilson intervals of 95 %, and what the sets at hand do not allow. On the test
    half the figures of extended are held against their bars; the exit code is 1 when one is missed. Takes less
    than a minute, and needs the extra evaluate.
    """
    from service.workshop.accuracy import measure
    from service.workshop.accuracy_report import errors_in_lines, in_columns, in_words

    with waiting("measuring"):
        measured = measure(data, Half(half), seed, read_extended(profile_file))
    if form == "json":
        click.echo(orjson.dumps(in_columns(measured), option=orjson.OPT_INDENT_2))
    else:
        for line in in_words(measured):
            click.echo(line)
    if errors is not None:
        with written(errors) as file:
            for error in errors_in_lines(measured.errors):
                file.write(orjson.dumps(error, option=orjson.OPT_APPEND_NEWLINE))
    if measured.sets.half is Half.TEST and not all(bar.holds for bar in measured.bars):
        click.get_current_context().exit(1)
