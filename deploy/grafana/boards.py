"""Rows of panels put together, with the variables that every dashboard has."""

from collections.abc import Iterator, Sequence
from typing import Any

from grafana_foundation_sdk.builders import dashboard as dash
from grafana_foundation_sdk.models import dashboard as models

from deploy.grafana.panels import CHOSEN, PROMETHEUS


def dashboard(
    uid: str,
    title: str,
    description: str,
    parts: Sequence[tuple[str, Sequence[Any]]],
    *,
    source: str,
    more: Sequence[tuple[str, str, str]] = (),
    page: bool = False,
) -> models.Dashboard:
    """Put rows of panels together.

    `source` is a series that every process shown has: jobs and instances are read from it. `more` are further
    variables: name of the label, title, and the series to read it from. `page` adds the page's database.
    """
    made = _empty(title, description).uid(uid)
    for variable in _variables(source, more, page=page):
        made = made.with_variable(variable)
    number = 0
    for part, panels in parts:
        number += 1
        made = made.with_row(dash.Row(part).id(number))
        for panel in panels:
            number += 1
            made = made.with_panel(panel.id(number))
    return made.build()


def _empty(title: str, description: str) -> dash.Dashboard:
    others = dash.DashboardLink("turnjudge").type(models.DashboardLinkType.DASHBOARDS).tags(["turnjudge"])
    return (
        dash.Dashboard(title)
        .description(description)
        .tags(["turnjudge"])
        .readonly()
        .timezone("browser")
        .refresh("30s")
        .time("now-6h", "now")
        .tooltip(models.DashboardCursorSync.CROSSHAIR)
        .link(others.as_dropdown(True).include_vars(True).keep_time(True))
    )


def _variables(source: str, more: Sequence[tuple[str, str, str]], *, page: bool) -> Iterator[Any]:
    yield dash.DatasourceVariable("datasource").label("Prometheus").type("prometheus")
    if page:
        yield dash.DatasourceVariable("page").label("The page's rows").type("grafana-postgresql-datasource")
    # All jobs and processes are those of the list, and no others.
    yield _label_values("job", "job", source)
    yield _label_values("instance", "process", f'{source}{{job=~"$job"}}')
    for name, label, metric in more:
        yield _label_values(name, label, f"{metric}{{{CHOSEN}}}").all_value(".+")


def _label_values(name: str, label: str, metric: str) -> dash.QueryVariable:
    return (
        dash.QueryVariable(name)
        .label(label)
        .datasource(PROMETHEUS)
        .query(f"label_values({metric}, {name})")
        .refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(models.VariableSort.ALPHABETICAL_ASC)
        .include_all(True)
        .multi(True)
        .current(models.VariableOption(text="All", value="$__all", selected=True))
    )
