-- Decides one call to a token bucket, for callers in any language. The function's name never changes. The bucket is
-- that of the library's limiter with this name, key and limit (name, rate and burst).
--
-- tokens   refilled in each period; burst: the most tokens in the bucket; cost: tokens of this call, up to six decimals
-- returns  outcome: allowed, denied or impossible (cost above burst); remaining: whole tokens; retry_after_ms:
--          milliseconds, rounded up; null unless denied
create or replace function sluice_check(
  limiter text, limit_name text, key text, tokens bigint, period interval, burst bigint, cost numeric default 1
) returns table (outcome text, remaining bigint, retry_after_ms bigint) language plpgsql volatile as $$
declare
  plain text := '[A-Za-z0-9_.@+=,;~!/-]';
  micros bigint := round(extract(epoch from period) * 1000000);
  amount bigint := round(cost * 1000000);
  divisor bigint;
  n bigint;
  m bigint;
  capacity bigint;
  which uuid;
  call_plan_id bigint;
  reply bigint[];
  s sluice_state;
  zero numeric;
begin
  if limiter is null or limit_name is null or coalesce(key, '') = '' then
    raise exception 'sluice_check: limiter, limit_name and key are texts, and a key is not empty'
      using errcode = '22023';
  elsif (tokens between 1 and 9007199254 and burst between 1 and 9007199254 and micros >= 1) is not true then
    raise exception 'sluice_check: tokens % in % with burst %: expected 1 to 9007199254 tokens, and a period above 0',
      tokens, period, burst using errcode = '22023';
  elsif micros::numeric * burst / tokens > 3155760000000000 then
    raise exception 'sluice_check: tokens % in % with burst %: a bucket fills within a hundred years',
      tokens, period, burst using errcode = '22023';
  elsif (amount >= 1 and amount = cost * 1000000) is not true then
    raise exception 'sluice_check: cost is %: expected a number above 0 with up to six decimals', cost
      using errcode = '22023';
  end if;
  divisor := gcd(micros, tokens * 1000000);
  n := tokens * 1000000 / divisor;
  m := micros / divisor;
  capacity := burst * 1000000;
  key := sluice_name_part(key, '[A-Za-z0-9_.@+=,;~!/:-]');
  if length(key) > 200 then
    key := '#' || encode(sha256(convert_to(key, 'UTF8')), 'hex');
  end if;
  key := sluice_name_part(limiter, plain) || ':' || sluice_name_part(limit_name, plain) || ':tb:' || key;
  which := left(encode(sha256(convert_to(key, 'UTF8')), 'hex'), 32)::uuid;
  key := encode(sha256(convert_to(n || ' ' || m || ' ' || capacity, 'UTF8')), 'hex');
  call_plan_id := ('x0' || left(key, 15))::bit(64)::bigint;
  while reply is null loop
    reply := sluice_consume(
      0, true, 1, array[which], array[1], array[1], array[0, call_plan_id, n, m, capacity, 0, 0, 0],
      array[1, least(amount, capacity + 1), 1, 0]
    );
  end loop;
  outcome := (array['allowed', 'denied', 'impossible'])[reply[2] + 1];
  -- The row, still locked here, has the state after the call.
  select t.* into s from sluice_state t where t.id = which;
  zero := s.zero::numeric * n + coalesce(s.rest, 0);
  remaining := case
    when s.blocked_until > reply[1] then 0
    when s.plan_id is null then burst
    else greatest(0, least(burst, div(greatest(reply[1], s.seen) * n::numeric - zero, m * 1000000::numeric)))
  end;
  if outcome = 'denied' then
    retry_after_ms := greatest(s.blocked_until, div(zero + amount * m::numeric + n - 1, n)) - reply[1];
    retry_after_ms := (retry_after_ms + 999) / 1000;
  end if;
  return next;
end $$;
