"""The few kinds of panel.

Every panel says what it shows and why one looks at it. Queries name the series of the catalogue or of the recording
rules, matched by `$job` and `$instance`.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from grafana_foundation_sdk.builders import common as builders
from grafana_foundation_sdk.builders import dashboard as dash
from grafana_foundation_sdk.builders import prometheus, stat, table, timeseries
from grafana_foundation_sdk.models import common
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

PROMETHEUS: Final = models.DataSourceRef(type_val="prometheus", uid="${datasource}")
PAGE: Final = models.DataSourceRef(type_val="grafana-postgresql-datasource", uid="${page}")
CHOSEN: Final = 'job=~"$job", instance=~"$instance"'
SERIES: Final = f"{{{CHOSEN}}}"
_QUANTILES: Final = (("0.5", "half"), ("0.99", "99 of 100"), ("0.999", "999 of 1000"))

Query = tuple[str, str]  # PromQL, legend


class Limit(NamedTuple):
    """A value from which a panel is coloured, and the colour."""

    value: float
    color: str


class Sql:
    """A query of the page's rows; the SDK has no builder for PostgreSQL."""

    def __init__(self, text: str) -> None:
        self._text = text

    def build(self) -> "SqlModel":
        """Return what stands in the JSON."""
        return SqlModel(self._text)


class SqlModel:
    """A target of the PostgreSQL data source."""

    def __init__(self, text: str) -> None:
        self.ref_id = ""
        self._text = " ".join(text.split())

    def dataquery_variant(self) -> str:
        """Name the kind of data source, as the SDK asks of every target."""
        return "grafana-postgresql-datasource"

    def to_json(self) -> dict[str, Any]:
        """Return the target."""
        return {
            "refId": self.ref_id or "A",
            "datasource": PAGE.to_json(),
            "editorMode": "code",
            "format": "table",
            "rawQuery": True,
            "rawSql": self._text,
        }


def quantiles(histogram: str, most: int = 2) -> list[Query]:
    """Return the queries for half of what a histogram counts, 99 of 100 and, if three are wanted, 999 of 1000."""
    rates = f"sum by (le) (rate({histogram}_bucket{SERIES}[$__rate_interval]))"
    return [(f"histogram_quantile({share}, {rates})", name) for share, name in _QUANTILES[:most]]


def _targets(queries: Sequence[Query], instant: bool = False) -> list[Any]:
    targets = []
    for number, (text, legend) in enumerate(queries):
        query = prometheus.Dataquery().expr(" ".join(text.split())).legend_format(legend).ref_id("ABCDEFGH"[number])
        targets.append(query.datasource(PROMETHEUS).instant() if instant else query.datasource(PROMETHEUS).range())
    return targets


def _thresholds(limits: Sequence[Limit]) -> dash.ThresholdsConfig:
    steps = [
        models.Threshold(value=None, color="green"),
        *(models.Threshold(each.value, each.color) for each in limits),
    ]
    return dash.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(steps)


def lines(
    title: str,
    description: str,
    unit: str,
    *queries: Query,
    width: int = 12,
    height: int = 8,
    stacked: bool = False,
    log: bool = False,
    least: float | None = 0,
    most: float | None = None,
    limits: Sequence[Limit] = (),
) -> timeseries.Panel:
    """Make a panel of lines over time, from `least` up, by logarithms where `log`; `limits` are lines of their own."""
    panel = (
        timeseries.Panel()
        .title(title)
        .description(description)
        .unit(unit)
        .datasource(PROMETHEUS)
        .targets(_targets(queries))
        .span(width)
        .height(height)
        .line_width(1.5)
        .fill_opacity(30 if stacked else 0)
        .show_points(common.VisibilityMode.NEVER)
        .legend(builders.VizLegendOptions().show_legend(True).placement(common.LegendPlacement.BOTTOM))
        .tooltip(builders.VizTooltipOptions().mode(common.TooltipDisplayMode.MULTI).sort(common.SortOrder.DESCENDING))
    )
    if log:
        scale = builders.ScaleDistributionConfig().type(common.ScaleDistribution.LOG).log(10)
        panel = panel.scale_distribution(scale)
    elif least is not None:
        panel = panel.min(least)
    if most is not None:
        panel = panel.max(most)
    if stacked:
        panel = panel.stacking(builders.StackingConfig().mode(common.StackingMode.NORMAL))
    if limits:
        style = builders.GraphThresholdsStyleConfig().mode(common.GraphThresholdsStyleMode.DASHED)
        panel = panel.thresholds(_thresholds(limits)).thresholds_style(style)
    return panel


def figure(
    title: str, description: str, unit: str, query: str, *, limits: Sequence[Limit] = (), width: int = 4
) -> stat.Panel:
    """Make a panel of one figure, the last one, with its course behind it."""
    return (
        stat.Panel()
        .title(title)
        .description(description)
        .unit(unit)
        .datasource(PROMETHEUS)
        .targets(_targets([(query, title)]))
        .span(width)
        .height(4)
        .thresholds(_thresholds(limits))
        .color_mode(common.BigValueColorMode.VALUE)
        .graph_mode(common.BigValueGraphMode.AREA)
        .reduce_options(builders.ReduceDataOptions().calcs(["lastNotNull"]))
    )


def rows(title: str, description: str, unit: str, query: Query, *, width: int = 12, height: int = 8) -> table.Panel:
    """Make a table of what is now, a row for each series."""
    targets = _targets([query], instant=True)
    return (
        _table(title, description, unit, width, height)
        .datasource(PROMETHEUS)
        .targets([each.format(PromQueryFormat.TABLE) for each in targets])
    )


def page_rows(title: str, description: str, sql: str, *, width: int = 24, height: int = 9) -> table.Panel:
    """Make a table of a query of the page's database."""
    builder: Any = Sql(sql)
    return _table(title, description, "none", width, height).datasource(PAGE).targets([builder])


def _table(title: str, description: str, unit: str, width: int, height: int) -> table.Panel:
    return table.Panel().title(title).description(description).unit(unit).span(width).height(height)
