-- Add the results that are not there yet.
-- Grain: run, dataset, sample_id, question_id.
-- Reads incoming: the columns of results.
-- Takes nothing.
insert into results by name
from incoming
where (run, dataset, sample_id, question_id) not in (select (run, dataset, sample_id, question_id) from results)
