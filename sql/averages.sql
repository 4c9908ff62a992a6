-- Average every metric over all rows with the same weight for each question, each question type, or each sample.
-- Grain: run, dataset, protocol, metric, average.
-- Reads score_rows: run, dataset, protocol, cluster, question_type, answered, metric, score.
-- Takes nothing.
--
-- As in summary.sql a missing answer counts as 0, a row that was answered but has no score does not count, and a question
-- type without a single answer was not attempted.
with attempted as (
    select *
    from score_rows
    qualify count(*) filter (answered) over (partition by run, dataset, protocol, metric, question_type) > 0
),

counted as (
    select * replace (if(answered, score, 0) as score)
    from attempted
    where not answered or score is not null
),

averages as (
    select run, dataset, protocol, metric, 'question' as average, fsum(score) as total, count(*) as weights
    from counted
    group by all
    union all by name
    select run, dataset, protocol, metric, 'type' as average, fsum(mean) as total, count(*) as weights
    from (
        select run, dataset, protocol, metric, question_type, fsum(score) / count(*) as mean from counted group by all
    )
    group by all
    union all by name
    select run, dataset, protocol, metric, 'conversation' as average, fsum(mean) as total, count(*) as weights
    from (
        select run, dataset, protocol, metric, cluster, fsum(score) / count(*) as mean from counted group by all
    )
    group by all
)

select run, dataset, protocol, metric, average, total / weights as mean, weights::bigint as weights
from averages
order by all
