-- Note runs; what is noted of one already stays where nothing new is said.
-- Grain: run.
-- Reads incoming_runs: the columns of runs.
-- Takes nothing.
insert into runs by name from incoming_runs
on conflict (run) do update set
    system = coalesce(excluded.system, runs.system),
    repeat = coalesce(excluded.repeat, runs.repeat),
    tags = map_concat(runs.tags, excluded.tags),
    datasets = map_concat(  -- a checksum that is not said takes none away
        excluded.datasets,
        runs.datasets,
        map_from_entries(list_filter(map_entries(excluded.datasets), lambda entry: entry.value is not null))
    ),
    versions = excluded.versions,
    settings = map_concat(runs.settings, excluded.settings)
