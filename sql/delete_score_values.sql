-- Remove the scores that come in anew.
-- Grain: run, dataset, sample_id, question_id, protocol, metric.
-- Reads incoming_scores: run, protocol, metric.
-- Takes nothing.
delete from score_values where (run, protocol, metric) in (select (run, protocol, metric) from incoming_scores)
