-- Count what a cache holds, with tokens and dollars.
-- Grain: judge_model, settings, mode, status.
-- Reads judgements.
-- Takes nothing.
select
    judge_model,
    settings,
    mode,
    status,
    count(*) as judgements,
    avg(score) as mean_score,
    sum(input_tokens)::bigint as input_tokens,
    sum(output_tokens)::bigint as output_tokens,
    sum(cost_usd) as cost_usd,
    min(created_at) as first_at,
    max(created_at) as last_at
from judgements
group by all
order by judge_model, settings, mode, status
