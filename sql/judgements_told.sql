-- Read what judges said under these keys, failures too.
-- Grain: cache_key.
-- Reads judgements.
-- Takes $keys.
select cache_key, score, status, reasoning, error, raw_reply
from judgements
where cache_key in (select unnest($keys))
