-- Add up what judging answers has cost, every judge and repeat; null where the price of a good verdict is not known.
-- Grain: run, dataset.
-- Reads judgements; wanted: run, dataset, content_hash.
-- Takes nothing.
with answers as (
    select distinct run, dataset, content_hash
    from wanted
)

select
    run,
    answers.dataset,
    if(count(*) filter (status = 'ok' and cost_usd is null) = 0, sum(cost_usd), null) as judge_usd
from answers join judgements using (content_hash)
group by all
order by all
