-- List the metrics that the stored runs have under the protocol "himga", and the published ones.
-- Grain: metric.
-- Reads score_values.
-- Takes nothing.
select distinct metric from score_values where protocol in ('himga', 'published') order by metric
