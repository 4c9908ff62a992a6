-- Count the answers in which the incoming rows of a run differ from the stored ones.
-- Grain: run.
-- Reads incoming, results: run, dataset, sample_id, question_id, ground_truth, prediction.
-- Takes $part: whether the incoming rows are some of a run's, so that those that are absent are no difference.
with stored as (
    select run, dataset, sample_id, question_id, ground_truth, prediction
    from results
    where run in (select run from incoming)
),

given as (
    select run, dataset, sample_id, question_id, ground_truth, prediction
    from incoming
    where run in (select run from results)
),

changed as (
    (from stored where not $part except from given)
    union
    (from given except from stored)
)

select run, count(distinct (dataset, sample_id, question_id)) as answers
from changed
group by run
order by run
