-- List the judges that have judged some of these answers, with how many.
-- Grain: judge_model, settings.
-- Reads judgements, wanted: mode, prompt_hash, content_hash, repeat.
-- Takes nothing.
select judge_model, settings, count(*) as judged
from judgements
semi join wanted using (mode, prompt_hash, content_hash, repeat)
where status = 'ok'
group by all
order by judged desc, judge_model, settings
