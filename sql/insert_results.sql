-- Add results.
-- Grain: run, dataset, sample_id, question_id.
-- Reads incoming: the columns of results.
-- Takes nothing.
insert into results by name from incoming
