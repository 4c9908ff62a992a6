-- Remove the results of the runs that come in anew.
-- Grain: run, dataset, sample_id, question_id.
-- Reads incoming: run.
-- Takes nothing.
delete from results where run in (select run from incoming)
