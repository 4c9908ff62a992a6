-- Show every stored score with what summary.sql needs to average it.
-- Grain: run, dataset, sample_id, question_id, protocol, metric.
-- Reads score_values, results.
-- Takes nothing.
create or replace view score_rows as
select
    v.run, v.dataset, v.protocol, v.sample_id as cluster, r.question_type, v.metric, v.score,
    v.question_id like '%\_abs' escape '\' as abstention,
    r.prediction is not null as answered
from score_values v join results r using (run, dataset, sample_id, question_id)
