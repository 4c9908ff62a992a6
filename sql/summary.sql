-- Average every metric by question type and over the usual cuts of a data set, with a 95 % interval.
-- Grain: run, dataset, protocol, question_type, metric.
-- Reads score_rows: run, dataset, protocol, cluster, question_type, abstention, answered, metric, score.
-- Takes nothing.
--
-- The strict mean counts a missing answer as 0, the lenient one leaves it out; a row that was answered but has no score
-- is in neither, and where no row has a score there is no mean. The interval belongs to the strict mean. It is cluster-robust, the sample being the cluster: Student's t
-- with clusters - 1 degrees of freedom. Where all rows score 0, or all score 1, the rows say nothing of the spread, and
-- Wilson's interval stands in, with as many trials as there are clusters.
with cells as (
    select
        run, dataset, protocol, metric, cluster, abstention,
        coalesce(question_type, '(none)') as question_type,
        count(*) as rows,
        count(*) filter (not answered) as missing,
        count(score) filter (answered) as scored,
        coalesce(fsum(score) filter (answered), 0) as total,
        min(score) as lowest,
        max(score) as highest
    from score_rows
    group by all
),

attempted as (  -- a type without a single answer was not attempted
    select * from cells
    qualify sum(rows - missing) over (partition by run, dataset, protocol, metric, question_type) > 0
),

cuts as (
    select * from attempted
    union all by name
    select * replace ('overall' as question_type) from attempted
    union all by name
    select * replace ('answerable' as question_type) from attempted
    where (dataset = 'locomo' and question_type <> 'adversarial') or (dataset = 'longmemeval' and not abstention)
    union all by name
    select * replace ('abstention' as question_type) from attempted
    where dataset = 'longmemeval' and abstention
),

clusters as (
    select
        run, dataset, protocol, metric, question_type, cluster,
        sum(rows) as rows,
        sum(missing) as missing,
        sum(scored) as scored,
        sum(total) as total,
        min(least(lowest, if(missing > 0, 0, lowest))) as lowest,
        max(greatest(highest, if(missing > 0, 0, highest))) as highest
    from cuts
    group by all
),

means as (
    select
        run, dataset, protocol, metric, question_type,
        if(sum(scored) > 0, fsum(total) / sum(scored + missing), null) as mean,
        fsum(total) / nullif(sum(scored), 0) as mean_lenient,
        sum(scored + missing) as base
    from clusters
    group by all
),

influences as (  -- how far each cluster pulls its mean
    select
        c.*, m.mean, m.mean_lenient,
        if(m.mean is null, 0, c.scored + c.missing) as base,
        (c.total - m.mean * (c.scored + c.missing)) / m.base as influence
    from clusters c join means m using (run, dataset, protocol, metric, question_type)
),

task_means as (  -- LongMemEval's second headline: the mean of its types' means
    select run, dataset, protocol, metric, avg(mean) as mean, avg(mean_lenient) as mean_lenient, count(mean) as types
    from means
    where dataset = 'longmemeval' and question_type not in ('overall', 'answerable', 'abstention', '(none)')
    group by all
),

every_cut as (
    from influences
    union all by name
    select
        i.run, i.dataset, i.protocol, i.metric, 'task_averaged' as question_type, i.cluster,
        sum(i.rows) as rows, sum(i.missing) as missing, sum(i.scored) as scored, sum(i.base) as base,
        min(i.lowest) as lowest, max(i.highest) as highest,
        any_value(t.mean) as mean, any_value(t.mean_lenient) as mean_lenient, sum(i.influence) / any_value(t.types) as influence
    from influences i join task_means t using (run, dataset, protocol, metric)
    where i.question_type not in ('overall', 'answerable', 'abstention', '(none)')
    group by all
),

spreads as (
    select
        run, dataset, protocol, question_type, metric,
        any_value(mean) as mean,
        any_value(mean_lenient) as mean_lenient,
        sum(rows) as count,
        sum(scored) as scored,
        sum(missing) as missing,
        count(*) filter (base > 0) as clusters,
        min(lowest) as lowest,
        max(highest) as highest,
        sqrt(count(*) filter (base > 0) / nullif(count(*) filter (base > 0) - 1, 0) * fsum(influence ** 2)) as error
    from every_cut
    group by all
),

quantiles as (  -- Student's t at .975: listed up to 10 degrees of freedom, then Cornish and Fisher's expansion (to 1e-5)
    select
        *,
        1.959963984540054 as z,
        clusters - 1 as freedom,
        coalesce(
            [12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139][freedom],
            z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
            + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
        ) as t
    from spreads
),

intervals as (
    select
        *,
        case
            when clusters < 2 then null
            when lowest = 0 and highest = 0 then 0
            when lowest = 1 and highest = 1 then clusters / (clusters + z**2)
            when lowest >= 0 then greatest(mean - t * error, 0)
            else mean - t * error
        end as lo,
        case
            when clusters < 2 then null
            when lowest = 0 and highest = 0 then z**2 / (clusters + z**2)
            when lowest = 1 and highest = 1 then 1
            when highest <= 1 then least(mean + t * error, 1)
            else mean + t * error
        end as hi
    from quantiles
)

select
    run, dataset, protocol, question_type, metric, mean, mean_lenient,
    count::bigint as count, scored::bigint as scored, missing::bigint as missing, lo, hi, clusters::bigint as clusters
from intervals
