-- Remove the results of the questions that are answered anew.
-- Grain: run, dataset, sample_id, question_id.
-- Reads incoming: run, dataset, sample_id, question_id.
-- Takes nothing.
delete from results
where (run, dataset, sample_id, question_id) in (select (run, dataset, sample_id, question_id) from incoming)
