-- Average the repeats of each answer's judgement, and say how far they lie apart.
-- Grain: row, judge_model, mode.
-- Reads judged: row (the answer's), judge_model, mode, score, status.
-- Takes nothing.
select
    row,
    judge_model,
    mode,
    avg(score) as score,
    stddev_samp(score) as spread,
    count(score) as judged,
    count(*) - count(score) as failed
from judged
group by all
order by row
