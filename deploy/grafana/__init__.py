"""The dashboards as code: each module is a dashboard, `panels` the few kinds of panel, `build` writes the JSON."""
