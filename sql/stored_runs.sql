-- List the runs with what they hold.
-- Grain: run.
-- Reads runs, results, score_values.
-- Takes nothing.
with answers as (
    select run, count(*) as questions, count(prediction) as answered
    from results
    group by run
),

metrics as (
    select run, list(distinct metric order by metric) as metrics
    from score_values
    group by run
)

select
    run, system, repeat, tags, map_keys(datasets) as datasets,
    coalesce(questions, 0) as questions, coalesce(answered, 0) as answered, metrics, created_at
from runs left join answers using (run) left join metrics using (run)
order by created_at, run
