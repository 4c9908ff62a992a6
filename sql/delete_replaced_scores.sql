-- Remove every score of the runs whose answers are replaced.
-- Grain: run, dataset, sample_id, question_id, protocol, metric.
-- Reads incoming: run.
-- Takes nothing.
delete from score_values where run in (select run from incoming)
