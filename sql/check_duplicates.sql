-- List the questions that stand more than once in a run.
-- Grain: run, dataset, sample_id, question_id.
-- Reads results: run, dataset, sample_id, question_id.
-- Takes nothing.
select run, dataset, sample_id, question_id, count(*) as rows
from results
group by all
having count(*) > 1
order by all
