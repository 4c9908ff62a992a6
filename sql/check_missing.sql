-- List the questions that a run does not have, and another run of the same data set does.
-- Grain: run, dataset, sample_id, question_id.
-- Reads results: run, dataset, sample_id, question_id, question_type, prediction.
-- Takes nothing.
--
-- A question type without a single answer was not attempted: its questions count as ones the run does not have.
with attempted as (
    select run, dataset, sample_id, question_id, question_type
    from results
    qualify count(prediction) over (partition by run, dataset, question_type) > 0
),

runs as (select distinct run, dataset from results),

questions as (
    select dataset, sample_id, question_id, any_value(question_type) as question_type
    from attempted
    group by all
)

select run, dataset, sample_id, question_id, question_type
from runs join questions using (dataset)
anti join attempted using (run, dataset, sample_id, question_id)
order by all
