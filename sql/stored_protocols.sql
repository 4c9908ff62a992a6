-- List the protocols that a run has scores under, less those that came with its answers.
-- Grain: protocol.
-- Reads score_values: run, protocol.
-- Takes $run.
select distinct protocol from score_values where run = $run and protocol <> 'published' order by protocol
