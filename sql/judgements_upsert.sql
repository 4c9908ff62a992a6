-- Keep judgements: a good one stays for good, a failed one until another comes.
-- Grain: cache_key.
-- Reads incoming: the columns of judgements.
-- Takes nothing.
--
-- Equal keys in one batch are settled first, the good one before the latest. NaN is no score.
insert into judgements by name
select * replace (
    case when isfinite(score) then score end as score,
    case when status = 'ok' and not coalesce(isfinite(score), false) then 'invalid' else status end as status
)
from incoming
qualify row_number() over (
    partition by cache_key
    order by status = 'ok' and coalesce(isfinite(score), false) desc, created_at desc
) = 1
on conflict (cache_key) do update set
    status = excluded.status,
    score = excluded.score,
    reasoning = excluded.reasoning,
    raw_reply = excluded.raw_reply,
    error = excluded.error,
    answered_by = excluded.answered_by,
    attempts = excluded.attempts,
    input_tokens = excluded.input_tokens,
    output_tokens = excluded.output_tokens,
    cache_read_tokens = excluded.cache_read_tokens,
    cache_write_tokens = excluded.cache_write_tokens,
    cost_usd = excluded.cost_usd,
    latency_s = excluded.latency_s,
    created_at = excluded.created_at
where judgements.status <> 'ok'
