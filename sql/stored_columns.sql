-- List the tables and views of a file that have a name of ours, with their columns.
-- Grain: name.
-- Reads the catalogue.
-- Takes nothing.
select table_name as name, if(bool_or(table_name in (select view_name from duckdb_views())), 'view', 'table') as kind,
    list(column_name order by column_index) as columns
from duckdb_columns()
where schema_name = 'main' and not internal
    and table_name in ('runs', 'results', 'score_values', 'score_rows', 'scores', 'by_type')
group by table_name
order by table_name
