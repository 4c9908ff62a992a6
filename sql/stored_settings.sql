-- List what was noted of the runs: checksums of data sets, versions of packages, settings.
-- Grain: run, name.
-- Reads runs: run, datasets, versions, settings.
-- Takes nothing.
with noted as (
    select run, 'dataset.' as room, unnest(map_entries(datasets)) as entry from runs
    union all by name
    select run, 'version.' as room, unnest(map_entries(versions)) as entry from runs
    union all by name
    select run, '' as room, unnest(map_entries(settings)) as entry from runs
)

select run, room || entry.key as name, entry.value as value
from noted
where entry.value is not null
order by all
