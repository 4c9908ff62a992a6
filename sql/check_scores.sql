-- List the scores outside their range: 0 to 1, or -1 to 1 for the cosines bert_f1 and sbert_similarity.
-- Grain: run, dataset, sample_id, question_id, protocol, metric.
-- Reads score_values.
-- Takes nothing.
select run, dataset, sample_id, question_id, protocol, metric, score
from score_values
where score > 1 or score < if(metric in ('bert_f1', 'sbert_similarity'), -1, 0)
order by all
