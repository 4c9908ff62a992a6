-- Make the table of judgements. The key says all that a verdict depends on; dataset and ids are those of the first answer.
-- Grain: cache_key.
-- Reads nothing.
-- Takes nothing.
create table if not exists judgements (
    cache_key varchar primary key,
    dataset varchar,
    sample_id varchar,
    question_id varchar,
    question_type varchar,
    judge_model varchar not null,
    settings varchar not null,      -- what the judge was set to, as JSON
    mode varchar not null,
    prompt_hash varchar not null,
    prompt_source varchar not null, -- "built-in", or the user's file
    content_hash varchar not null,  -- of question, ground truth and prediction
    repeat integer not null,
    status varchar not null check (status in ('ok', 'refused', 'invalid', 'truncated', 'error')),
    score double check ((score is not null) = (status = 'ok')),
    reasoning varchar,
    raw_reply varchar,              -- of what could not be read
    error varchar,
    answered_by varchar,            -- the model's exact name, as the reply gave it
    attempts integer not null,
    input_tokens bigint,            -- of all attempts; null where a reply did not tell
    output_tokens bigint,
    cache_read_tokens bigint,
    cache_write_tokens bigint,
    cost_usd double,
    latency_s double,
    created_at timestamptz not null
)
