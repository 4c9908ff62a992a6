-- Turn a frame with a column a metric into a row a metric; scores that came with the answers are the protocol "published".
-- Grain: run, question, metric.
-- Reads wide_scores: run, dataset, protocol, cluster, question_type, abstention, answered; all its other columns are
-- metrics.
-- Takes nothing.
select * replace (if(starts_with(metric, 'published_'), 'published', protocol) as protocol)
from (
    from wide_scores
    unpivot include nulls (
        score for metric in (columns(* exclude (run, dataset, protocol, cluster, question_type, abstention, answered)))
    )
)
