-- Find the good judgements under these keys; what failed is asked again.
-- Grain: cache_key.
-- Reads judgements, wanted: cache_key.
-- Takes nothing.
select judgements.*
from judgements
semi join wanted using (cache_key)
where status = 'ok'
