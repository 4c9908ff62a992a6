-- Make the table of scores; the protocol "published" holds those that came with the answers.
-- Grain: run, dataset, sample_id, question_id, protocol, metric.
-- Reads nothing.
-- Takes nothing.
create table if not exists score_values (
    run varchar not null,
    dataset varchar not null,
    sample_id varchar not null,
    question_id varchar not null,
    protocol varchar not null,
    metric varchar not null,
    score double
)
