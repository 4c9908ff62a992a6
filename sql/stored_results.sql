-- Read the results of stored runs, in the order of their files.
-- Grain: run, dataset, sample_id, question_id.
-- Reads results.
-- Takes $runs.
from results where run in (select unnest($runs)) order by list_position($runs, run), position
