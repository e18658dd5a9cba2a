-- The role by which Grafana asks the page's database: counts by character, model, topic and time, and no word of a chat.
-- Run by psql with the variable `password`, as often as you like, once the page has made its tables.
SELECT 'CREATE ROLE grafana_reader LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'grafana_reader') \gexec
ALTER ROLE grafana_reader WITH PASSWORD :'password' CONNECTION LIMIT 10;
ALTER ROLE grafana_reader SET default_transaction_read_only = on;
ALTER ROLE grafana_reader SET statement_timeout = '20s';
GRANT SELECT (place, character_id, model_id, occurred_ms, judged_ms, state, verdict, reason, touched_topic, hedged)
  ON turn_rows TO grafana_reader;
GRANT SELECT ON tallies TO grafana_reader;
-- What reviewers answered, and neither who nor with what note.
GRANT SELECT (item_id, answer, at_ms, undone_ms) ON decisions TO grafana_reader;
GRANT SELECT (id, sample_id) ON sample_items TO grafana_reader;
GRANT SELECT (id, queue, by_hand) ON samples TO grafana_reader;
GRANT SELECT (state, topic, character_id, opened_ms, at_ms, window_s, observed, exposure, baseline_observed,
  baseline_exposure, ratio, p_value) ON spikes TO grafana_reader;
