-- Sum up what answers took: percentiles of seconds, and the mean tokens of a question.
-- Grain: run, dataset.
-- Reads answers: run, dataset, prediction, latency_s, input_tokens, output_tokens.
-- Takes nothing.
select
    run,
    dataset,
    count(prediction) as answered,
    count(latency_s) as timed,
    quantile_cont(latency_s, 0.5) as latency_p50_s,
    quantile_cont(latency_s, 0.95) as latency_p95_s,
    count(input_tokens) as metered,
    avg(input_tokens) as input_tokens,
    avg(output_tokens) as output_tokens
from answers
group by all
order by all
