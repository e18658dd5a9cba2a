"""Words by a model: a summary for each verdict, behind the verdicts' topic or beside a file of them (issue 7)."""
