-- Show every result with a column a metric: those of the protocol "himga" and the published ones.
-- Grain: run, dataset, sample_id, question_id.
-- Reads results, score_values.
-- Takes nothing; the store fills in the columns, a line a metric, as a view cannot pivot by itself.
create or replace view scores as
select r.*, s.* exclude (run, dataset, sample_id, question_id)
from results r
left join (
    select
        run, dataset, sample_id, question_id,
        {columns}
    from score_values
    where protocol in ('himga', 'published')
    group by run, dataset, sample_id, question_id
) s using (run, dataset, sample_id, question_id)
