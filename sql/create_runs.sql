-- Make the table of runs.
-- Grain: run.
-- Reads nothing.
-- Takes nothing.
create table if not exists runs (
    run varchar primary key,
    system varchar,
    repeat integer,
    tags map(varchar, varchar),
    created_at timestamptz not null,
    datasets map(varchar, varchar),  -- name to checksum, null where the questions came with the answers
    versions map(varchar, varchar),
    settings map(varchar, varchar)
)
