-- Average every metric over all rows with the same weight for each question, each question type, or each sample.
-- Grain: run, dataset, protocol, metric, average.
-- Reads score_rows: run, dataset, protocol, cluster, question_type, answered, metric, score.
-- Takes nothing.
--
-- As in summary.sql a missing answer counts as 0, a row that was answered but has no score does not count, a question type
-- without a single answer was not attempted, and a metric without a single score was not given: its means are null.
with attempted as (
    select *, count(score) filter (answered) over (partition by run, dataset, protocol, metric) > 0 as given
    from score_rows
    qualify count(*) filter (answered) over (partition by run, dataset, protocol, metric, question_type) > 0
),

counted as (
    select * replace (case when answered then score when given then 0 end as score)
    from attempted
),

averages as (
    select run, dataset, protocol, metric, 'question' as average, fsum(score) as total, count(score) as weights
    from counted
    group by all
    union all by name
    select run, dataset, protocol, metric, 'type' as average, fsum(mean) as total, count(mean) as weights
    from (
        select
            run, dataset, protocol, metric, question_type,
            if(count(score) filter (answered) > 0, fsum(score) / count(score), null) as mean
        from counted
        group by all
    )
    group by all
    union all by name
    select run, dataset, protocol, metric, 'conversation' as average, fsum(mean) as total, count(mean) as weights
    from (
        select run, dataset, protocol, metric, cluster, fsum(score) / nullif(count(score), 0) as mean
        from counted
        group by all
    )
    group by all
)

select run, dataset, protocol, metric, average, total / nullif(weights, 0) as mean, weights::bigint as weights
from averages
order by all
