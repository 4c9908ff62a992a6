-- Read the scores of stored runs under one protocol, and those that came with the answers.
-- Grain: run, dataset, sample_id, question_id, metric.
-- Reads score_values.
-- Takes $runs, $protocol.
from score_values where run in (select unnest($runs)) and protocol in ($protocol, 'published')
