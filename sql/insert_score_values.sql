-- Add scores.
-- Grain: run, dataset, sample_id, question_id, protocol, metric.
-- Reads incoming_scores: the columns of score_values.
-- Takes nothing.
insert into score_values by name from incoming_scores
