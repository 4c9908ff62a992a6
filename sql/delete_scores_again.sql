-- Remove the scores of the questions that are answered anew.
-- Grain: run, dataset, sample_id, question_id, protocol, metric.
-- Reads incoming: run, dataset, sample_id, question_id.
-- Takes nothing.
delete from score_values
where (run, dataset, sample_id, question_id) in (select (run, dataset, sample_id, question_id) from incoming)
