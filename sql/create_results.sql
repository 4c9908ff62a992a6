-- Make the table of results; `position` is the row's place in its file, `extra` what its other columns held.
-- Grain: run, dataset, sample_id, question_id.
-- Reads nothing.
-- Takes nothing.
create table if not exists results (
    run varchar not null,
    position bigint not null,
    dataset varchar not null,
    sample_id varchar not null,
    question_id varchar not null,
    question_type varchar,
    question varchar,
    ground_truth varchar,
    prediction varchar,
    evidence varchar[],
    retrieved varchar[],
    latency_s double,
    input_tokens bigint,
    output_tokens bigint,
    error varchar,
    extra json
)
