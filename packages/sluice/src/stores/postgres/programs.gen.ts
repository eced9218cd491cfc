// Made from the programs beside this file by `npm run generate`; edit those, not this.

export const migrations: readonly { readonly name: string; readonly sha256: string; readonly source: string }[] = [
  { name: '0001-tables', sha256: '99cc4300d1f2c8df0fc47b9db083aad025026cc1ba33c44e3bc8df45f94f77eb', source: `create table sluice_state (
  id uuid primary key,
  plan_id bigint,
  zero bigint,
  rest bigint,
  seen bigint,
  ends bigint,
  current bigint,
  previous bigint,
  turn bigint,
  absent bigint,
  newest bigint,
  charged bigint,
  head bigint,
  tail bigint,
  keep_for bigint,
  blocked_until bigint,
  kind smallint,
  state bytea
) with (fillfactor = 90);
create table sluice_plan (
  plan_id bigint primary key,
  n bigint not null,
  m bigint not null,
  burst bigint not null
);
create table sluice_log (
  id uuid,
  seq bigint,
  at bigint not null,
  base bigint not null,
  primary key (id, seq)
) with (fillfactor = 90);
` },
  { name: '0002-regions', sha256: 'a0ed525c5cee0c1c4983888f70a85158206d64e331c36556deb9931edcf2777a', source: `create unlogged table sluice_region (
  one boolean primary key default true check (one),
  mark uuid not null,
  started timestamptz not null,
  written bigint not null,
  changes bigint not null,
  changed bigint not null,
  cells bigint not null,
  record text
);
create unlogged table sluice_cell (
  id uuid primary key,
  change bigint not null unique,
  content text not null
);
` },
  { name: '0003-region-needs', sha256: 'bb5b2173d51943d881a6eee98d5327e0d1b77392d19ab38318a0d860735798e8', source: `create unlogged table sluice_need (
  process text primary key,
  at bigint not null,
  entry text not null
);
` },
]

export interface SqlFunction {
  readonly name: string
  readonly hash: string
  readonly source: string
}

export const functions: readonly SqlFunction[] = [
  { name: 'now', hash: '6eb8e7ee', source: `create function sluice_now(at_us bigint) returns bigint language sql volatile as $$
  select case when at_us = 0 then (extract(epoch from clock_timestamp()) * 1000000)::bigint else at_us end
$$;
` },
  { name: 'floor', hash: 'a446291d', source: `create function sluice_floor(x numeric, d numeric) returns numeric language sql immutable as $$
  select div(x - mod(mod(x, d) + d, d), d)
$$;
` },
  { name: 'adopt_bucket', hash: '60e2a879', source: `create function sluice_adopt_bucket(
  s sluice_state, old_n numeric, old_m numeric, old_burst numeric, plan bigint[], now_us bigint
) returns sluice_state language plpgsql immutable as $$
declare
  n numeric := plan[3];
  m numeric := plan[4];
  burst numeric := plan[5];
  at bigint := greatest(now_us, s.seen);
  full_span numeric := old_burst * old_m;
  level numeric := (at - s.zero) * old_n - coalesce(s.rest, 0);
  latest bigint := least(at + 3155760000000000, 9007199254740990 - div(burst * m, n));
  zero numeric;
begin
  if level >= full_span and coalesce(greatest(s.seen, s.zero) + s.keep_for <= at, true) then
    return null;
  end if;
  zero := least(at * n - least(sluice_floor(least(level, full_span) * m, old_m), burst * m), latest * n);
  s.plan_id := plan[2];
  s.zero := sluice_floor(zero, n);
  s.rest := zero - s.zero * n;
  s.seen := at;
  s.keep_for := greatest(s.keep_for, div(full_span + old_n - 1, old_n));
  return s;
end $$;
` },
  { name: 'fresh_at', hash: 'f27964b0', source: `create function sluice_fresh_at(ends bigint, len bigint, turn bigint) returns bigint language sql immutable as $$
  select ends + case
    when turn >= 3 then len
    when turn = 2 then (len + 3) / 4
    when turn = 1 then (len + 15) / 16
    else (len + 63) / 64
  end
$$;
` },
  { name: 'fresh_end', hash: '2317f5a2', source: `create function sluice_fresh_end(len bigint, align bigint, phase bigint, now_us bigint) returns bigint
language plpgsql immutable as $$
declare
  shift bigint := case when align = 2 then div(phase::numeric * len, 4294967296) else 0 end;
begin
  return case
    when align = 1 then now_us + len
    else ((now_us - shift - case when now_us < shift then len - 1 else 0 end) / len + 1) * len + shift
  end;
end $$;
` },
  { name: 'adopt', hash: 'bd411a6a', source: `create function sluice_adopt(s sluice_state, plan bigint[], plans bigint[], phase bigint, now_us bigint)
returns sluice_state language plpgsql stable as $$
declare
  own bigint := s.plan_id;
  len bigint := plan[4];
  turn bigint := coalesce(s.turn, 0);
  old record;
begin
  if plan[1] = 0 then
    select p.n, p.m, p.burst into strict old from (
      select plans[8 * g - 5] as n, plans[8 * g - 4] as m, plans[8 * g - 3] as burst
        from generate_series(1, cardinality(plans) / 8) g where plans[8 * g - 7] = 0 and plans[8 * g - 6] = own
      union all
      select k.n, k.m, k.burst from sluice_plan k where k.plan_id = own
    ) p limit 1;
    return sluice_adopt_bucket(s, old.n, old.m, old.burst, plan, now_us);
  elsif plan[1] = 1 then
    if own = len and turn < 5 then
      return s;
    elsif now_us >= s.ends then
      return case when now_us < sluice_fresh_at(s.ends, own, turn) then s end;
    elsif (own > len and turn >= 4) or (own = len and turn = 6) then
      return s;
    end if;
    s.ends := case
      when own = len or turn = 6 then s.ends
      when own < len and plan[5] = 1 then s.ends - own + len
      else greatest(s.ends, sluice_fresh_end(len, plan[5], phase, now_us))
    end;
    s.current := case when turn = 6 then 9007199254740991 else s.current end;
    s.plan_id := greatest(own, len);
    s.turn := 4;
    return s;
  elsif plan[1] = 2 then
    if own > len and now_us < s.ends then
      return s;
    elsif own = len then
      s.absent := case when now_us >= s.ends then s.absent end;
      return s;
    elsif now_us >= s.ends then
      s.previous := case when now_us < s.ends + own then s.current end;
      s.current := null;
      s.ends := s.ends + own;
    end if;
    if own > len and s.absent is distinct from 1 then
      s.absent := 1;
      return case when s.previous > 0 then s end;
    end if;
    s.ends := s.ends - own + len;
    s.plan_id := len;
    s.absent := null;
    return case when now_us < s.ends and (s.current > 0 or s.previous > 0) then s end;
  end if;
  s.keep_for := greatest(own, s.keep_for);
  s.plan_id := case when s.newest + s.keep_for > now_us then len end;
  s.newest := case when s.plan_id is not null then s.newest end;
  s.keep_for := case when s.keep_for > len then s.keep_for end;
  return s;
end $$;
` },
  { name: 'adjust_bucket', hash: '87b5f250', source: `create function sluice_adjust_bucket(s sluice_state, plan bigint[], amount bigint, receipt bigint, now_us bigint)
returns sluice_state language plpgsql immutable as $$
declare
  n numeric := plan[3];
  m numeric := plan[4];
  burst bigint := plan[5];
  at bigint := greatest(now_us, s.seen);
  full_span numeric := burst * m;
  lowest numeric := at * n - full_span;
  zero numeric := s.zero * n + coalesce(s.rest, 0);
  deepest numeric := least(at * n + full_span, least(at + 3155760000000000, 9007199254740990 - div(full_span, n)) * n);
begin
  if amount > 0 and receipt >= 0 and receipt * n <= lowest then
    return s;
  end if;
  if s.plan_id is null or zero <= lowest then
    zero := lowest;
    s.keep_for := case when at < greatest(s.seen, s.zero) + s.keep_for then s.keep_for end;
  end if;
  zero := least(zero - greatest(-2 * burst, least(amount, 2 * burst)) * m, greatest(deepest, zero));
  if zero + full_span <= at * n and s.keep_for is null then
    return null;
  end if;
  s.plan_id := plan[2];
  s.zero := sluice_floor(zero, n);
  s.rest := zero - s.zero * n;
  s.seen := at;
  return s;
end $$;
` },
  { name: 'part', hash: '665a3990', source: `create function sluice_part(ends bigint, own bigint, turn bigint, len bigint, now_us bigint) returns bigint
language sql immutable as $$
  select case
    when turn >= 5 and own > len then greatest(0, least((now_us - ends + own) / len, own / len - 1))
    else 0
  end
$$;
` },
  { name: 'window_at', hash: '8f1f5ae9', source: `create function sluice_window_at(s sluice_state, plan bigint[], phase bigint, now_us bigint) returns sluice_state
language plpgsql immutable as $$
declare
  burst bigint := plan[3];
  len bigint := plan[4];
  fresh bigint := sluice_fresh_end(len, plan[5], phase, now_us);
  remembered boolean := now_us < sluice_fresh_at(s.ends, s.plan_id, coalesce(s.turn, 0));
  part bigint;
begin
  if s.plan_id is null or now_us >= s.ends then
    s.current := 0;
    if remembered and s.plan_id < len then
      s.ends := greatest(fresh, s.ends + s.plan_id);
      s.plan_id := len;
      s.turn := 4;
    elsif remembered and s.plan_id > len and coalesce(s.turn, 0) < 5 then
      s.ends := s.ends + s.plan_id;
      s.turn := 5;
    else
      s.ends := fresh + case when remembered and fresh - len < s.ends then len else 0 end;
      s.plan_id := len;
      s.turn := 0;
    end if;
  end if;
  part := sluice_part(s.ends, s.plan_id, s.turn, len, now_us);
  if s.turn = 6 or (s.turn = 5 and part + 2 > 9007199254740991 / burst) then
    s.current := case when part > 9007199254740991 / burst then 0 else greatest(0, s.current - part * burst) end;
    s.plan_id := s.plan_id - part * len;
    s.turn := 6;
  end if;
  return s;
end $$;
` },
  { name: 'turn', hash: 'c5aa7442', source: `create function sluice_turn(turn bigint, count bigint, cap bigint) returns bigint language sql immutable as $$
  select case
    when turn >= 4 then turn
    when count * 4 > cap then 3
    when count * 16 > cap then 2
    when count * 64 > cap then 1
    else 0
  end
$$;
` },
  { name: 'adjust_window', hash: 'd3518bb4', source: `create function sluice_adjust_window(
  was sluice_state, plan bigint[], amount bigint, receipt bigint, phase bigint, now_us bigint
) returns sluice_state language plpgsql immutable as $$
declare
  burst bigint := plan[3];
  s sluice_state := sluice_window_at(was, plan, phase, now_us);
  part bigint := sluice_part(s.ends, s.plan_id, s.turn, plan[4], now_us);
  used bigint := greatest(0, s.current - part * burst);
begin
  if amount < 0 then
    if used >= 2 * burst then
      return was;
    end if;
    s.current := part * burst + least(2 * burst, used - amount);
  elsif used = 0 or (receipt >= 0 and receipt < s.ends - s.plan_id + part * plan[4]) then
    return was;
  else
    s.current := s.current - least(amount, used);
  end if;
  s.turn := sluice_turn(coalesce(s.turn, 0), s.current, burst);
  return case when s.current > 0 or s.turn >= 4 then s end;
end $$;
` },
  { name: 'counter_at', hash: '8174353d', source: `create function sluice_counter_at(s sluice_state, len bigint, now_us bigint) returns sluice_state
language plpgsql immutable as $$
begin
  if now_us < s.ends then
    return s;
  elsif now_us < s.ends + len and s.current > 0 then
    s.ends := s.ends + len;
    s.previous := s.current;
  else
    s.plan_id := len;
    s.ends := sluice_fresh_end(len, 0, 0, now_us);
    s.previous := 0;
  end if;
  s.current := 0;
  s.absent := null;
  return s;
end $$;
` },
  { name: 'share', hash: '5761faec', source: `create function sluice_share(s sluice_state, plan bigint[], now_us bigint) returns bigint
language plpgsql immutable as $$
declare
  quantum bigint := case when s.plan_id = plan[4] then plan[5] else 1 end;
  quanta bigint;
  remaining bigint;
begin
  while s.plan_id <> plan[4] and s.plan_id > 1000000 * quantum loop
    quantum := quantum * 10;
  end loop;
  quanta := s.plan_id / quantum;
  remaining := least(quanta, (s.ends - now_us + quantum - 1) / quantum);
  return s.previous / 1000000 * remaining / quanta * 1000000
    + (s.previous / 1000000 * remaining % quanta * 1000000 + s.previous % 1000000 * remaining + quanta - 1) / quanta;
end $$;
` },
  { name: 'adjust_counter', hash: 'c39309bf', source: `create function sluice_adjust_counter(was sluice_state, plan bigint[], amount bigint, receipt bigint, now_us bigint)
returns sluice_state language plpgsql immutable as $$
declare
  burst bigint := plan[3];
  s sluice_state := sluice_counter_at(was, plan[4], now_us);
  current bigint := coalesce(s.current, 0);
  previous bigint := coalesce(s.previous, 0);
  begins bigint := s.ends - s.plan_id;
  part bigint;
  older bigint;
begin
  if amount < 0 then
    part := 2 * burst - current - case when previous > 0 then sluice_share(s, plan, now_us) else 0 end;
    s.current := current + least(part, -amount);
    return case when part > 0 then s else was end;
  end if;
  part := case when receipt between 0 and begins - 1 then 0 else least(current, amount) end;
  older := case
    when receipt >= begins or receipt between 0 and begins - s.plan_id - 1 then 0
    else least(previous, amount - part)
  end;
  if part + older = 0 then
    return was;
  end if;
  s.current := current - part;
  s.previous := previous - older;
  return case when s.current + s.previous > 0 then s end;
end $$;
` },
  { name: 'log_first', hash: 'c7c101a5', source: `create function sluice_log_first(log uuid, lo bigint, hi bigint, instant bigint, amount bigint) returns bigint
language plpgsql stable as $$
declare
  step bigint := 1;
  probe bigint := lo;
  passed boolean;
begin
  while lo <= hi loop
    select coalesce(e.at > instant, e.base >= amount) into strict passed
      from sluice_log e where e.id = log and e.seq = probe;
    if passed then
      hi := probe - 1;
      step := 0;
    else
      lo := probe + 1;
      step := step * 2;
    end if;
    probe := case when step = 0 or lo + step > hi then (lo + hi) / 2 else lo + step - 1 end;
  end loop;
  return lo;
end $$;
` },
  { name: 'log_fits', hash: '939fd962', source: `create function sluice_log_fits(s sluice_state, was sluice_state, amount bigint, first bigint) returns bigint
language plpgsql stable as $$
declare
  found_seq bigint := s.tail;
begin
  if first < s.tail and (s.tail <= was.tail or amount <= was.charged) then
    found_seq := sluice_log_first(was.id, first + 1, least(s.tail, was.tail), null, amount) - 1;
  end if;
  return case
    when found_seq < s.tail then (select e.at from sluice_log e where e.id = was.id and e.seq = found_seq)
    else s.newest
  end;
end $$;
` },
  { name: 'log_decide', hash: '8e785ebf', source: `create function sluice_log_decide(
  inout s sluice_state, was sluice_state, plan bigint[], cost bigint, now_us bigint, both_views boolean, taking boolean,
  out verdict bigint[]
) language plpgsql volatile as $$
declare
  cap bigint := plan[3];
  len bigint := plan[4];
  before sluice_state := s;
  shown sluice_state;
  newest bigint := s.newest;
  total bigint := coalesce(s.charged, 0);
  tail bigint := coalesce(s.tail, 0);
  keep_for bigint := coalesce(s.keep_for, 0);
  now_at bigint := greatest(now_us, newest);
  kept_tail bigint := coalesce(was.tail, 0);
  first bigint := tail + 1;
  from_seq bigint := first;
  before_first bigint;
  used bigint;
  kept bigint;
  merges boolean;
  counted bigint;
  more bigint;
begin
  if newest > now_at - len then
    first := sluice_log_first(was.id, s.head, least(tail - 1, kept_tail), now_at - len, null);
  end if;
  before_first := case
    when first > tail then total
    when first > kept_tail then coalesce(was.charged, 0)
    else (select e.base from sluice_log e where e.id = was.id and e.seq = first)
  end;
  used := total - before_first;
  if taking then
    cost := least(cost, 2 * cap - used);
    verdict := array[case when cost <= 0 then 1 else 0 end];
  else
    verdict := array[case when cost > cap then 2 when cost > cap - used then 1 else 0 end, 0, 0, 0, 0, 0, 0, 0];
  end if;
  if verdict[1] = 0 then
    if keep_for = 0 then
      from_seq := first;
    elsif newest > now_at - keep_for then
      from_seq := sluice_log_first(was.id, s.head, least(tail - 1, kept_tail), now_at - keep_for, null);
    end if;
    kept := tail - from_seq + 1;
    merges := kept > 0 and newest = now_at;
    if not merges and kept >= (case when keep_for > 0 then 10000 else (cap + 999999) / 1000000 end) then
      merges := from_seq = first;
      from_seq := least(from_seq + 1, first);
    end if;
    s.plan_id := plan[2];
    s.newest := now_at;
    s.charged := total + cost;
    s.head := from_seq;
    s.tail := case when merges then tail else tail + 1 end;
    s.keep_for := case when kept > 0 then keep_for else 0 end;
  elsif verdict[1] = 1 and not taking then
    verdict[2] := sluice_log_fits(s, was, total + cost - cap, first) + len - now_us;
  end if;
  for view in 0..1 loop
    continue when taking or (view = 0 and verdict[1] > 0) or (view = 1 and verdict[1] = 0 and not both_views);
    shown := case view when 0 then s else before end;
    counted := coalesce(shown.charged, 0) - before_first;
    verdict[3 + 3 * view] := greatest(0, cap - counted) / 1000000;
    more := (verdict[3 + 3 * view] + 1) * 1000000;
    verdict[5 + 3 * view] := case when counted > 0 then shown.newest + len - now_us else 0 end;
    verdict[4 + 3 * view] := case
      when more > cap then verdict[5 + 3 * view]
      else sluice_log_fits(shown, was, shown.charged + more - cap, first) + len - now_us
    end;
  end loop;
end $$;
` },
  { name: 'log_refund', hash: '819153c6', source: `create function sluice_log_refund(s sluice_state, since bigint, amount bigint, receipt bigint) returns sluice_state
language plpgsql volatile as $$
declare
  ats bigint[];
  costs bigint[];
begin
  if s.newest <= since or s.newest < receipt or receipt between 0 and since then
    return s;
  end if;
  with entries as (
    select l.seq, l.at, lead(l.base, 1, s.charged) over (order by l.seq) - l.base as cost
      from sluice_log l where l.id = s.id
  ), eligible as (
    select e.seq, least(e.cost, greatest(0, amount + e.cost - sum(e.cost) over (order by o.ordinal))) as refunded
      from entries e, lateral (select case when receipt < 0 then -e.seq else e.seq end as ordinal) o
      where e.at > since and e.at >= receipt
  ), kept as (
    select e.seq, e.at, (e.cost - coalesce(o.refunded, 0))::bigint as cost
      from entries e left join eligible o on o.seq = e.seq
  )
  select array_agg(k.at order by k.seq), array_agg(k.cost order by k.seq) into ats, costs from kept k where k.cost > 0;
  delete from sluice_log l where l.id = s.id;
  insert into sluice_log (id, seq, at, base)
    select s.id, e.ordinal, e.at, sum(e.cost) over (order by e.ordinal) - e.cost
      from unnest(ats, costs) with ordinality as e (at, cost, ordinal);
  s.tail := cardinality(ats);
  s.newest := ats[s.tail];
  s.charged := (select sum(c) from unnest(costs) c);
  s.head := 1;
  return case when s.tail > 0 then s end;
end $$;
` },
  { name: 'write', hash: 'aefa39ca', source: `create function sluice_write(s sluice_state, stored boolean) returns boolean language plpgsql volatile as $$
begin
  if stored then
    update sluice_state t set
        kind = s.kind, plan_id = s.plan_id, zero = s.zero, rest = nullif(s.rest, 0), seen = s.seen, ends = s.ends,
        current = nullif(s.current, 0), previous = nullif(s.previous, 0), turn = nullif(s.turn, 0), absent = s.absent,
        newest = s.newest, charged = s.charged, head = s.head, tail = s.tail, keep_for = nullif(s.keep_for, 0),
        state = s.state
      where t.id = s.id;
    return true;
  end if;
  insert into sluice_state (
      id, kind, plan_id, zero, rest, seen, ends, current, previous, turn, absent, newest, charged, head, tail, keep_for, state
    ) values (
      s.id, s.kind, s.plan_id, s.zero, nullif(s.rest, 0), s.seen, s.ends, nullif(s.current, 0), nullif(s.previous, 0),
      nullif(s.turn, 0), s.absent, s.newest, s.charged, s.head, s.tail, nullif(s.keep_for, 0), s.state
    ) on conflict (id) do nothing;
  return found;
end $$;
` },
  { name: 'reset', hash: 'f8d60ad8', source: `create function sluice_reset(ids uuid[]) returns void language plpgsql volatile as $$
declare
  s sluice_state;
begin
  foreach s.id in array ids loop
    perform from sluice_state t where t.id = s.id for update;
    continue when not found;
    delete from sluice_state t where t.id = s.id and t.blocked_until is null;
    if not found then
      perform sluice_write(s, true);
    end if;
    delete from sluice_log e where e.id = s.id;
  end loop;
end $$;
` },
  { name: 'log_write', hash: '5d3d8080', source: `create function sluice_log_write(s sluice_state, was sluice_state) returns void language plpgsql volatile as $$
begin
  if s.tail > coalesce(was.tail, 0) then
    insert into sluice_log (id, seq, at, base) values (s.id, s.tail, s.newest, coalesce(was.charged, 0));
  elsif s.newest <> was.newest then
    update sluice_log e set at = s.newest where e.id = s.id and e.seq = s.tail;
  end if;
  if s.head > was.head then
    delete from sluice_log e where e.id = s.id and e.seq >= was.head and e.seq < s.head;
  end if;
end $$;
` },
  { name: 'adjust', hash: '7d00ca1e', source: `create function sluice_adjust(at_us bigint, receipt bigint, ids uuid[], plans bigint[], calls bigint[])
returns void language plpgsql volatile as $$
declare
  now_us bigint;
  plan bigint[];
  amount bigint;
  was sluice_state;
  s sluice_state;
  decided record;
begin
  for i in 1..cardinality(ids) loop
    amount := calls[2 * i - 1];
    plan := plans[8 * i - 7:8 * i];
    loop
      select t.* into was from sluice_state t where t.id = ids[i] for update;
      if was.kind <> plan[1] then
        raise exception 'a state is of kind %, where % is known', was.kind, plan[1] using errcode = 'SL002';
      end if;
      now_us := sluice_now(at_us);
      s := was;
      if s.plan_id <> plan[2] or s.kind = 1 or s.absent = 1 then
        s := sluice_adopt(s, plan, '{}', calls[2 * i], now_us);
      end if;
      if plan[1] = 0 then
        s := sluice_adjust_bucket(s, plan, amount, receipt, now_us);
      elsif plan[1] = 1 then
        s := sluice_adjust_window(s, plan, amount, receipt, calls[2 * i], now_us);
      elsif plan[1] = 2 then
        s := sluice_adjust_counter(s, plan, amount, receipt, now_us);
      elsif amount < 0 then
        decided := sluice_log_decide(s, was, plan, -amount, now_us, false, true);
        s := case when decided.verdict[1] = 0 then decided.s else s end;
      elsif s.plan_id is not null then
        s := sluice_log_refund(s, greatest(now_us, s.newest) - plan[4], amount, receipt);
      end if;
      if s.plan_id is null then
        if was.id is not null then
          perform sluice_reset(array[was.id]);
        end if;
        exit;
      end if;
      s.id := ids[i];
      s.kind := plan[1];
      if plan[1] = 0 and s.plan_id is distinct from was.plan_id then
        insert into sluice_plan (plan_id, n, m, burst) values (plan[2], plan[3], plan[4], plan[5])
          on conflict do nothing;
      end if;
      continue when not sluice_write(s, was.id is not null);
      if plan[1] = 3 and amount < 0 then
        perform sluice_log_write(s, was);
      end if;
      exit;
    end loop;
  end loop;
end $$;
` },
  { name: 'block', hash: '4d9efd52', source: `create function sluice_block(at_us bigint, duration bigint, ids uuid[]) returns void language plpgsql volatile as $$
declare
  which uuid;
begin
  foreach which in array ids loop
    perform from sluice_state t where t.id = which for update;
    if duration < 0 then
      delete from sluice_state t where t.id = which and t.plan_id is null;
      update sluice_state t set blocked_until = null where t.id = which and t.blocked_until is not null;
    else
      insert into sluice_state (id, blocked_until) values (which, duration + sluice_now(at_us))
        on conflict (id) do update set blocked_until = excluded.blocked_until;
    end if;
  end loop;
end $$;
` },
  { name: 'same_run', hash: 'c2d4d09d', source: `create function sluice_same_run(started timestamptz, writer xid, written bigint) returns boolean language sql stable as $$
  select started = pg_postmaster_start_time() and writer::text::bigint = written
$$;
` },
  { name: 'regions_allowed', hash: 'b852ae37', source: `create function sluice_regions_allowed() returns void language plpgsql stable as $$
begin
  if pg_is_in_recovery() then
    raise exception 'a standby has no run of its own' using errcode = '25006';
  elsif current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'rights of regions need transactions of READ COMMITTED, not of %',
      upper(current_setting('transaction_isolation')) using errcode = 'SL004';
  end if;
end $$;
` },
  { name: 'guard', hash: 'f0b4d991', source: `create function sluice_guard(
  at_us bigint, locks boolean, ids uuid[], known_mark uuid, known_changed bigint, shifted_us bigint, cells uuid[],
  changes bigint[], slots int[], plans bigint[], settled bigint[]
) returns text language plpgsql volatile
set plan_cache_mode = force_generic_plan as $$
declare
  found_ids uuid[];
  plan_of bigint[];
  seen_of bigint[];
  plan bigint;
  seen bigint;
  i int;
begin
  if pg_is_in_recovery() or current_setting('transaction_isolation') <> 'read committed' then
    perform sluice_regions_allowed();
  end if;
  if not locks then
    select array_agg(k.plan_id), array_agg(k.seen) into plan_of, seen_of from unnest(ids) as x (id)
      left join lateral (select t.plan_id, t.seen from sluice_state t where t.id = x.id offset 0) k on true;
  else
    select array_agg(k.id), array_agg(k.plan_id), array_agg(k.seen) into found_ids, plan_of, seen_of
      from unnest(ids) as x (id)
      left join lateral (select t.id, t.plan_id, t.seen from sluice_state t where t.id = x.id for update) k on true;
    while array_position(found_ids, null) is not null loop
      i := array_position(found_ids, null);
      found_ids[i] := ids[i];
      perform pg_advisory_xact_lock_shared(uuid_hash_extended(ids[i], 'sluice_cell'::regclass::oid::bigint));
      select t.plan_id, t.seen into plan, seen from sluice_state t where t.id = ids[i] for update skip locked;
      plan_of[i] := plan;
      seen_of[i] := seen;
    end loop;
    perform pg_advisory_xact_lock_shared(hashtextextended('sluice_region', 0));
  end if;
  return 'stale ' || case
    when exists (
      select from sluice_region r
        where r.one and r.changed = known_changed and r.mark = known_mark and r.record is not null
          and sluice_same_run(r.started, r.xmin, r.written)
    ) then (
      select string_agg(x.nth::text, ',')
        from unnest(cells, changes, slots, plans, settled) with ordinality as x (id, change, slot, plan_id, settled_us, nth)
        where coalesce((select c.change from sluice_cell c where c.id = x.id), 0) <> x.change
          or (x.slot > 0 and case
            when plan_of[x.slot] is null then sluice_now(at_us) < x.settled_us
            else plan_of[x.slot] <> x.plan_id or seen_of[x.slot] < shifted_us
          end)
    )
    else '0'
  end;
end $$;
` },
  { name: 'take', hash: '9d913b7f', source: `create function sluice_take(
  was sluice_state, most bigint, duration bigint, one bigint, other bigint, cost bigint, now_us bigint,
  out s sluice_state, out step int
) language plpgsql immutable as $$
declare
  held bigint[];
  at bigint := now_us;
  last bigint := now_us;
  used bigint := 0;
  live int := 0;
  mine int := 0;
  before int := 0;
  first int;
begin
  s := was;
  if s.plan_id is not null then
    held := string_to_array(encode(s.state, 'escape'), ' ')::bigint[];
    at := greatest(now_us, held[1]);
    last := greatest(at, held[2] + 1);
    select coalesce(sum(held[b + 3]), 0), count(*), count(*) filter (where held[b + 1] = one and held[b + 2] = other),
        count(*) filter (where held[b + 4] <= at + duration)
      into used, live, mine, before
      from generate_series(2, cardinality(held) - 5, 5) b where held[b + 4] > at;
  end if;
  step := case when cost > most then 2 when mine > 0 or (used + cost <= most and live < 4000) then 0 else 1 end;
  if step = 0 and mine = 0 then
    first := cardinality(held) - 5 * live;
    held := array[at, last] || held[first + 1:first + 5 * before]
      || array[greatest(one, 0), case when one < 0 then 0 else other end, cost, at + duration, last]
      || held[first + 5 * before + 1:];
    s.state := array_to_string(held, ' ');
    s.plan_id := 0;
    s.ends := greatest(last + 1, held[cardinality(held) - 1]);
  end if;
end $$;
` },
  { name: 'consume', hash: '0a881ee7', source: `create function sluice_consume(
  at_us bigint, charging boolean, waiting int, ids uuid[], firsts int[], sizes int[], plans bigint[], calls bigint[]
) returns bigint[] language plpgsql volatile as $$
declare
  many int := cardinality(ids);
  was sluice_state[];
  states sluice_state[] := '{}';
  next_of sluice_state[] := '{}';
  s sluice_state;
  known bigint[] := '{}';
  reply bigint[] := array_fill(0::bigint, array[1 + cardinality(sizes) + 6 * many]);
  others bigint[] := '{}';
  numbers bigint[];
  log_verdicts bigint[] := '{}';
  other_plans bigint[] := '{}';
  uncharged bigint[];
  now_us bigint;
  head int := 0;
  index int;
  size int;
  outcome int;
  step int;
  slot int;
  cost bigint;
  wanted int;
  plan_index int := 0;
  plan bigint[];
  kind int;
  n bigint; m bigint; burst bigint; len bigint;
  token_us bigint; token_parts bigint; micro_us bigint; micro_parts bigint; empty_us bigint; empty_parts bigint;
  at bigint; zero bigint; rest bigint; room bigint; part bigint;
  decided record;
  blocked boolean;
  peeking boolean;
begin
  if charging and many > 1 and waiting = 1 then
    select array_agg(k.t) into states from unnest(ids) as x (id)
      left join lateral (select t from sluice_state t where t.id = x.id for update) k on true;
  elsif charging and waiting = 3 then
    select array_agg(k.t) into states from unnest(ids) as x (id)
      left join lateral (select t from sluice_state t where t.id = x.id for update skip locked) k on true;
  else
    for i in 1..many loop
      loop
        if not charging then
          select t.* into s from sluice_state t where t.id = ids[i];
        else
          select t.* into s from sluice_state t where t.id = ids[i] for update;
        end if;
        exit when found or not charging or waiting = 1;
        insert into sluice_state as t (id) values (ids[i]) on conflict (id) do nothing returning t.* into s;
        exit when found;
      end loop;
      states[i] := s;
    end loop;
  end if;
  now_us := sluice_now(at_us);
  was := states;
  reply[1] := now_us;
  index := 1 + cardinality(sizes);
  for i in 1..many loop
    s := was[i];
    reply[index + 1] := coalesce(s.blocked_until, 0);
    if s.plan_id is not null then
      wanted := 8 * firsts[i] - 7;
      if s.kind <> plans[wanted] then
        raise exception 'a state is of kind %, where % is known', s.kind, plans[wanted] using errcode = 'SL002';
      elsif s.kind = 4 then
        numbers := string_to_array(encode(s.state, 'escape'), ' ')::bigint[];
        reply[index + 2] := cardinality(numbers);
        others := others || numbers;
      elsif s.kind > 0 then
        reply[index + 2] := s.plan_id;
      elsif s.plan_id = plans[wanted + 1] then
        reply[index + 2] := firsts[i];
      else
        select other_plans || array[p.n, p.m, p.burst] into strict other_plans
          from sluice_plan p where p.plan_id = s.plan_id;
        reply[index + 2] := -cardinality(other_plans) / 3;
      end if;
      reply[index + 3] := coalesce(s.zero, s.ends, s.newest);
      reply[index + 4] := coalesce(s.rest, s.current, s.charged, 0);
      reply[index + 5] := coalesce(s.seen, s.previous, s.head, 0);
      reply[index + 6] := coalesce(s.keep_for, s.turn, s.absent, 0);
    end if;
    index := index + 6;
  end loop;
  for g in 1..cardinality(sizes) loop
    size := sizes[g];
    outcome := 0;
    uncharged := '{}';
    for j in 1..size loop
      index := head + 4 * j - 4;
      slot := calls[index + 1];
      cost := calls[index + 2];
      wanted := calls[index + 3];
      for k in 1..j - 1 loop
        if calls[head + 4 * k - 3] = slot then
          cost := cost + calls[head + 4 * k - 2];
        end if;
      end loop;
      if wanted <> plan_index then
        plan_index := wanted;
        plan := plans[8 * wanted - 7:8 * wanted];
        kind := plan[1];
        if kind = 0 then
          n := plan[3];
          m := plan[4];
          burst := plan[5];
          token_us := m * 1000000 / n;
          token_parts := m * 1000000 % n;
          micro_us := m / n;
          micro_parts := m % n;
          rest := burst / 1000000 * token_parts + burst % 1000000 * micro_parts;
          empty_us := burst / 1000000 * token_us + burst % 1000000 * micro_us + (rest + n - 1) / n;
          empty_parts := (n - rest % n) % n;
        else
          burst := plan[3];
          len := plan[4];
        end if;
      end if;
      s := states[slot];
      blocked := coalesce(s.blocked_until > now_us, false);
      if s.plan_id <> plan[2] or s.turn = 5 or s.absent = 1 then
        s := sluice_adopt(s, plan, plans, calls[index + 4], now_us);
        if s.plan_id is not null then
          states[slot] := s;
        end if;
      end if;
      if kind = 0 then
        at := greatest(now_us, s.seen);
        zero := at - empty_us;
        rest := empty_parts;
        if s.zero > zero or (s.zero = zero and coalesce(s.rest, 0) > rest) then
          zero := s.zero;
          rest := coalesce(s.rest, 0);
        elsif at >= greatest(s.seen, s.zero) + s.keep_for then
          s.keep_for := null;
        end if;
        part := least(cost, burst);
        rest := rest + part / 1000000 * token_parts + part % 1000000 * micro_parts;
        zero := zero + part / 1000000 * token_us + part % 1000000 * micro_us + rest / n;
        rest := rest % n;
        room := at + plan[6];
        step := case when cost > burst then 2 when zero > room or (zero = room and rest > 0) then 1 else 0 end;
        s.plan_id := plan[2];
        s.zero := zero;
        s.rest := rest;
        s.seen := at;
      elsif kind = 3 then
        peeking := not charging or blocked;
        decided := sluice_log_decide(s, was[slot], plan, cost, now_us, size > 1 or peeking, false);
        s := decided.s;
        step := decided.verdict[1];
        log_verdicts := log_verdicts || decided.verdict[1:2]
          || case when step = 0 and not peeking then decided.verdict[3:5] else decided.verdict[6:8] end;
        uncharged := uncharged || cardinality(log_verdicts)::bigint || decided.verdict[6:8];
      elsif kind = 4 and burst = 0 then
        step := case when cost > 1 then 2 when now_us < s.ends then 1 else 0 end;
        if outcome + step = 0 then
          part := now_us + len;
          s.state := format('%s %s %s', now_us, part, plan[5]);
          for k in 0..plan[6] - 1 loop
            at := plans[8 * wanted - 1 + 2 * k];
            room := plans[8 * wanted + 2 * k];
            zero := case when (next_of[j - plan[6] + k]).kind = 0 then (next_of[j - plan[6] + k]).zero else 0 end;
            s.state := s.state || format(' %s %s %s 0 %s', at, room, room, zero)::bytea;
          end loop;
          s.plan_id := 0;
          s.ends := part + 60000000;
        end if;
      elsif kind = 4 then
        decided := sluice_take(s, burst, len, plan[5], plan[6], cost, now_us);
        s := decided.s;
        step := decided.step;
      else
        if s.plan_id is null or now_us >= s.ends or s.turn >= 5 then
          s := case kind
            when 1 then sluice_window_at(s, plan, calls[index + 4], now_us)
            else sluice_counter_at(s, len, now_us)
          end;
        end if;
        room := burst;
        if kind = 1 then
          part := sluice_part(s.ends, s.plan_id, s.turn, len, now_us);
          at := now_us - s.ends + s.plan_id - part * len;
          if plan[6] > 0 and at < plan[6] then
            room := least(burst, greatest(1000000, greatest(0, at) * plan[7] / plan[8]));
          end if;
          s.current := greatest(part * burst, s.current);
          room := room + part * burst - s.current;
          s.turn := sluice_turn(coalesce(s.turn, 0), s.current + cost, burst);
        else
          s.current := coalesce(s.current, 0);
          room := room - s.current - case when s.previous > 0 then sluice_share(s, plan, now_us) else 0 end;
        end if;
        step := case when cost > burst then 2 when cost > room then 1 else 0 end;
        s.current := s.current + cost;
      end if;
      outcome := greatest(outcome, step, case when blocked then 1 else 0 end);
      if outcome = 0 then
        s.id := ids[slot];
        s.kind := kind;
        next_of[j] := s;
      end if;
    end loop;
    reply[1 + g] := outcome;
    if outcome = 0 then
      for j in 1..size loop
        slot := calls[head + 4 * j - 3];
        states[slot] := next_of[j];
      end loop;
    else
      for k in 1..cardinality(uncharged) / 4 loop
        index := uncharged[4 * k - 3];
        log_verdicts[index - 2:index] := uncharged[4 * k - 2:4 * k];
      end loop;
    end if;
    head := head + 4 * size;
  end loop;
  if charging then
    for i in 1..many loop
      s := states[i];
      if s.kind = 0 and s.plan_id is distinct from (was[i]).plan_id and s.plan_id <> all (known) then
        known := known || s.plan_id;
        insert into sluice_plan (plan_id, n, m, burst)
          select s.plan_id, plans[8 * p - 5], plans[8 * p - 4], plans[8 * p - 3]
            from generate_series(1, cardinality(plans) / 8) p
            where plans[8 * p - 7] = 0 and plans[8 * p - 6] = s.plan_id
          on conflict do nothing;
      end if;
      if s.id is not null and (was[i]).id is null and not sluice_write(s, false) then
        delete from sluice_state t using generate_series(1, i - 1) k
          where t.id = (states[k]).id and (was[k]).id is null;
        return null;
      end if;
    end loop;
    for i in 1..many loop
      s := states[i];
      continue when s is not distinct from was[i];
      if (was[i]).id is not null then
        perform sluice_write(s, true);
      end if;
      if s.kind = 3 then
        perform sluice_log_write(s, was[i]);
      end if;
    end loop;
    if waiting = 2 then
      delete from sluice_state t where t.id = any(ids) and t.plan_id is null and t.blocked_until is null;
    end if;
  end if;
  return reply || others || log_verdicts || other_plans;
end $$;
` },
  { name: 'bucket', hash: '5df90f15', source: `create function sluice_bucket(
  at_us bigint, waiting int, times int, which uuid, call_plan_id bigint, n bigint, m bigint, burst bigint, cost bigint,
  spent_us bigint, spent_parts bigint, empty_us bigint, empty_parts bigint, known_mark uuid, known_changed bigint,
  known_change bigint, shifted_us bigint, settled_us bigint
) returns text language plpgsql volatile as $$
declare
  s record;
  locked boolean;
  same boolean;
  now_us bigint;
  at bigint;
  empty_at bigint;
  parts bigint;
  next_at bigint;
  next_parts bigint;
  passed int := 0;
begin
  select t.kind, t.plan_id, t.zero, coalesce(t.rest, 0) as rest, t.seen, t.keep_for, t.blocked_until
    into s from sluice_state t where t.id = which for update;
  if known_mark is not null then
    if s.plan_id = call_plan_id and s.seen >= shifted_us then
      locked := pg_advisory_xact_lock_shared(hashtextextended('sluice_region', 0)) is null;
      select coalesce(c.change, 0) = known_change into same
        from sluice_region r left join sluice_cell c on c.id = which
        where r.changed = known_changed and r.mark = known_mark and r.record is not null
          and sluice_same_run(r.started, r.xmin, r.written)
          and not pg_is_in_recovery() and current_setting('transaction_isolation') = 'read committed';
    end if;
    if same is distinct from true then
      return coalesce(
        sluice_guard(
          at_us, true, array[which], known_mark, known_changed, shifted_us, array[which], array[known_change], array[1],
          array[call_plan_id], array[settled_us]
        ),
        sluice_bucket(
          at_us, waiting, times, which, call_plan_id, n, m, burst, cost, spent_us, spent_parts, empty_us, empty_parts, null,
          null, null, null, null
        )
      );
    end if;
  end if;
  now_us := sluice_now(at_us);
  if s.plan_id is distinct from call_plan_id or s.kind <> 0 or s.blocked_until is not null
      or now_us >= s.seen + s.keep_for or cost > burst then
    if not found and waiting = 1 and times = 1 and cost <= burst then
      parts := empty_parts + spent_parts;
      insert into sluice_plan (plan_id, n, m, burst) values (call_plan_id, n, m, burst) on conflict do nothing;
      insert into sluice_state (id, kind, plan_id, zero, rest, seen)
        values (which, 0, call_plan_id, now_us - empty_us + spent_us + parts / n, nullif(parts % n, 0), now_us)
        on conflict (id) do nothing;
      return case when found then format('{%s,0,0,0,0,0,0,0}', now_us) end;
    end if;
    return sluice_consume(
      at_us, true, waiting, array[which], array[1], array_fill(1, array[times]),
      array[0, call_plan_id, n, m, burst, 0, 0, 0],
      ('{' || rtrim(repeat(format('1,%s,1,0,', cost), times), ',') || '}')::bigint[]
    )::text;
  end if;
  at := greatest(now_us, s.seen);
  empty_at := at - empty_us;
  parts := empty_parts;
  if s.zero > empty_at or (s.zero = empty_at and s.rest > parts) then
    empty_at := s.zero;
    parts := s.rest;
  end if;
  while passed < times loop
    next_parts := parts + spent_parts;
    next_at := empty_at + spent_us + next_parts / n;
    next_parts := next_parts % n;
    exit when next_at > at or (next_at = at and next_parts > 0);
    empty_at := next_at;
    parts := next_parts;
    passed := passed + 1;
  end loop;
  if passed > 0 then
    update sluice_state t set zero = empty_at, rest = nullif(parts, 0), seen = at where t.id = which;
  end if;
  return format(
    '{%s,%s0,1,%s,%s,%s,%s}', now_us, repeat('0,', passed) || repeat('1,', times - passed), s.zero, s.rest, s.seen,
    coalesce(s.keep_for, 0)
  );
end $$;
` },
  { name: 'buckets', hash: 'ad13fa39', source: `create function sluice_buckets(
  at_us bigint, waiting int, ids uuid[], call_plan_id bigint, n bigint, m bigint, burst bigint, cost bigint,
  spent_us bigint, spent_parts bigint, empty_us bigint, empty_parts bigint, known_mark uuid, known_changed bigint,
  known_changes bigint[], shifted_us bigint, settled_us bigint
) returns text language plpgsql volatile
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off as $$
declare
  many int := cardinality(ids);
  locks boolean := waiting < 2 and cost <= burst;
  plain int;
  fresh int;
  made uuid[];
  oldest bigint;
  locked boolean;
  same boolean;
  lies_at tid[];
  a_of bigint[];
  b_of bigint[];
  c_of bigint[];
  d_of bigint[];
  keep_until bigint;
  now_us bigint;
  passed int;
  written int;
  reply text;
begin
  if locks then
    select count(*) filter (
          where k.plan_id = call_plan_id and k.kind = 0 and k.blocked_until is null
        ),
        count(*) filter (where k.lies_at is null),
        min(k.seen), min(k.seen + k.keep_for), array_agg(k.lies_at), array_agg(k.zero),
        array_agg(coalesce(k.rest, 0)), array_agg(k.seen), array_agg(coalesce(k.keep_for, 0))
      into plain, fresh, oldest, keep_until, lies_at, a_of, b_of, c_of, d_of
      from unnest(ids) as x (id) left join lateral (
        select t.ctid as lies_at, t.kind, t.plan_id, t.zero, t.rest, t.seen, t.keep_for, t.blocked_until
          from sluice_state t where t.id = x.id for update
      ) k on true;
  end if;
  if known_mark is not null then
    if plain = many and oldest >= shifted_us then
      locked := pg_advisory_xact_lock_shared(hashtextextended('sluice_region', 0)) is null;
      select not exists (
          select from unnest(ids, known_changes) as x (id, change)
            where coalesce((select c.change from sluice_cell c where c.id = x.id), 0) <> x.change
        )
        into same from sluice_region r
        where r.one and r.changed = known_changed and r.mark = known_mark and r.record is not null
          and sluice_same_run(r.started, r.xmin, r.written)
          and not pg_is_in_recovery() and current_setting('transaction_isolation') = 'read committed';
    end if;
    if same is distinct from true then
      return coalesce(
        sluice_guard(
          at_us, true, ids, known_mark, known_changed, shifted_us, ids, known_changes,
          (select array_agg(i) from generate_series(1, many) i), array_fill(call_plan_id, array[many]),
          array_fill(settled_us, array[many])
        ),
        sluice_buckets(
          at_us, waiting, ids, call_plan_id, n, m, burst, cost, spent_us, spent_parts, empty_us, empty_parts, null, null,
          null, null, null
        )
      );
    end if;
  end if;
  now_us := sluice_now(at_us);
  if plain + fresh is distinct from many or now_us >= keep_until then
    return sluice_consume(
      at_us, true, case when locks then 3 else waiting end, ids, array_fill(1, array[many]), array_fill(1, array[many]),
      array[0, call_plan_id, n, m, burst, 0, 0, 0],
      (select array_agg(v order by i, p)
        from generate_series(1, many) i, unnest(array[i, cost, 1, 0]) with ordinality as u (v, p))
    )::text;
  end if;
  if fresh > 0 then
    insert into sluice_plan (plan_id, n, m, burst) values (call_plan_id, n, m, burst) on conflict do nothing;
    with inserted as (
      insert into sluice_state (id, kind, plan_id, zero, rest, seen)
        select x.id, 0, call_plan_id, now_us - empty_us + spent_us + (empty_parts + spent_parts) / n,
            nullif((empty_parts + spent_parts) % n, 0), now_us
          from unnest(ids, lies_at) as x (id, lies_at) where x.lies_at is null
        on conflict (id) do nothing returning id
    )
    select array_agg(i.id) into made from inserted i;
    if coalesce(cardinality(made), 0) < fresh then
      delete from sluice_state t where t.id = any(made);
      return null;
    end if;
  end if;
  with found as (
    select x.*, greatest(now_us, x.c) as at, greatest(now_us, x.c) - empty_us as floor
      from unnest(ids, lies_at, a_of, b_of, c_of, d_of) with ordinality as x (id, lies_at, a, b, c, d, nth)
  ), level as (
    select f.*, f.a > f.floor or (f.a = f.floor and f.b > empty_parts) as partly from found f
  ), charged as (
    select l.*, case when l.partly then l.b else empty_parts end + spent_parts as parts,
        case when l.partly then l.a else l.floor end + spent_us as whole
      from level l
  ), decided as materialized (
    select c.*, c.whole + c.parts / n as zero, c.parts % n as rest,
        c.whole + c.parts / n < c.at or (c.whole + c.parts / n = c.at and c.parts % n = 0) as passes
      from charged c
  ), wrote as (
    update sluice_state t set zero = d.zero, rest = nullif(d.rest, 0), seen = d.at from decided d
      where t.ctid = d.lies_at and t.id = d.id and d.passes returning 1
  )
  select count(*) filter (where d.passes), (select count(*) from wrote),
      '{' || now_us || ',' || string_agg(case when d.passes then '0' else '1' end, ',' order by d.nth)
        || string_agg(
          case when d.lies_at is null then ',0,0,0,0,0,0' else ',0,1,' || d.a || ',' || d.b || ',' || d.c || ',' || d.d end,
          '' order by d.nth
        ) || '}'
    into passed, written, reply from decided d;
  if written + fresh <> passed then
    raise exception 'sluice: % rows of % were not where they had been locked', passed - fresh - written, passed - fresh
      using errcode = '40001';
  end if;
  return reply;
end $$;
` },
  { name: 'fresh', hash: '64909b7f', source: `create function sluice_fresh(t sluice_state, n numeric, m numeric, burst numeric) returns bigint
language sql immutable as $$
  select greatest(t.blocked_until, case t.kind
    when 0 then greatest(
      div(t.zero * n + coalesce(t.rest, 0) + burst * m + n - 1, n)::bigint, greatest(t.seen, t.zero) + t.keep_for
    )
    when 1 then sluice_fresh_at(t.ends, t.plan_id, coalesce(t.turn, 0))
    when 2 then t.ends + case when t.current > 0 then t.plan_id else 0 end
    when 3 then t.newest + greatest(t.plan_id, t.keep_for)
    when 4 then t.ends
    else case when t.kind is not null then 9223372036854775807 end
  end)
$$;
` },
  { name: 'give_back', hash: '98cc8694', source: `create function sluice_give_back(was sluice_state, one bigint, other bigint, now_us bigint) returns sluice_state
language plpgsql immutable as $$
declare
  s sluice_state := was;
  held bigint[] := string_to_array(encode(s.state, 'escape'), ' ')::bigint[];
  at bigint := greatest(now_us, held[1]);
  mine int;
  first int;
begin
  select min(b) filter (where held[b + 1] = one and held[b + 2] = other), min(b) into mine, first
    from generate_series(2, cardinality(held) - 5, 5) b where held[b + 4] > at;
  if mine is null then
    return was;
  end if;
  held := array[at, held[2]] || held[first + 1:mine] || held[mine + 6:];
  s.state := array_to_string(held, ' ');
  s.ends := greatest(held[2] + 1, held[cardinality(held) - 1]);
  return case when s.ends > at then s end;
end $$;
` },
  { name: 'name_part', hash: '3ac505a0', source: `create function sluice_name_part(raw text, plain text) returns text language sql immutable as $$
  select coalesce(string_agg(case
    when c.letter ~ ('^' || plain || '$') then c.letter
    when c.code < 65536 then '%' || lpad(to_hex(c.code), 4, '0')
    else '%' || to_hex(55296 + (c.code - 65536) / 1024) || '%' || to_hex(56320 + (c.code - 65536) % 1024)
  end, '' order by c.nth), '')
  from (
    select x.letter, ascii(x.letter) as code, x.nth
      from regexp_split_to_table(raw, '') with ordinality as x (letter, nth)
  ) c
$$;
` },
  { name: 'prolong', hash: '8ef7a674', source: `create function sluice_prolong(was sluice_state, one bigint, other bigint, duration bigint, now_us bigint)
returns sluice_state language plpgsql immutable as $$
declare
  s sluice_state := was;
  held bigint[] := string_to_array(encode(s.state, 'escape'), ' ')::bigint[];
  at bigint := greatest(now_us, held[1]);
  until bigint := at + duration;
  mine int;
  first int;
  before int;
  others bigint[];
begin
  select min(b) filter (where held[b + 1] = one and held[b + 2] = other), min(b), count(*) filter (where held[b + 4] <= until)
    into mine, first, before
    from generate_series(2, cardinality(held) - 5, 5) b where held[b + 4] > at;
  if mine is null or until <= held[mine + 4] then
    return was;
  end if;
  others := held[first + 1:mine] || held[mine + 6:];
  before := 5 * (before - 1);
  held := array[at, held[2]] || others[1:before] || held[mine + 1:mine + 3] || until || held[mine + 5] || others[before + 1:];
  s.state := array_to_string(held, ' ');
  s.ends := greatest(held[2] + 1, held[cardinality(held) - 1]);
  return s;
end $$;
` },
  { name: 'region', hash: 'b8c8f71a', source: `create function sluice_region(
  at_us bigint, which text, known_run text, known_begins text, known_digest text, known_change bigint, new_record text,
  new_bucket text, new_rows text, max_cells bigint
) returns text language plpgsql volatile as $$
declare
  cell uuid := nullif(which, '')::uuid;
  writes boolean := known_run <> '';
  numbered boolean := new_record <> '' or new_rows <> '-';
  f record;
  s sluice_state;
  numbers bigint[];
  added int := 0;
begin
  perform sluice_regions_allowed();
  if writes then
    perform set_config('synchronous_commit', 'off', true);
    perform pg_advisory_xact_lock(uuid_hash_extended(cell, 'sluice_cell'::regclass::oid::bigint));
    perform from sluice_state t where t.id = cell for update;
    if new_record = '' then
      perform pg_advisory_xact_lock_shared(hashtextextended('sluice_region', 0));
    else
      perform pg_advisory_xact_lock(hashtextextended('sluice_region', 0));
    end if;
    if numbered then
      perform from sluice_region r for update;
    end if;
  end if;
  for attempt in 1..2 loop
    select r.mark::text as run, r.changes, r.cells, r.record,
        case when r.record is null then '' else r.mark || ' ' || r.changed || ' ' end as begins,
        t.kind, coalesce(t.xmin::text, '') as digest, coalesce(t.blocked_until, 0) as ends,
        case when t.kind = 0 then
          array[t.zero, coalesce(t.rest, 0), t.seen, coalesce(t.keep_for, 0), p.n, p.m, p.burst]
        end as bucket,
        coalesce(c.change, 0) as change, c.content
      into f
      from (select 1) x
        left join sluice_region r on sluice_same_run(r.started, r.xmin, r.written)
        left join sluice_state t on t.id = cell
        left join sluice_plan p on p.plan_id = t.plan_id
        left join sluice_cell c on c.id = cell;
    exit when f.run is not null;
    insert into sluice_region (mark, started, written, changes, changed, cells)
      values (gen_random_uuid(), pg_postmaster_start_time(), txid_current() % 4294967296, 0, 0, 0)
      on conflict (one) do nothing;
    if not found then
      update sluice_region r
        set mark = gen_random_uuid(), started = pg_postmaster_start_time(), written = txid_current() % 4294967296,
          changes = 0, changed = 0, cells = 0, record = null
        where not sluice_same_run(r.started, r.xmin, r.written);
    end if;
    if found then
      delete from sluice_cell;
    end if;
  end loop;
  if f.run is null then
    raise exception 'sluice: another process drew the mark of this run' using errcode = '40001';
  elsif f.kind <> 0 then
    raise exception 'a state is of kind %, where 0 is known', f.kind using errcode = 'SL002';
  end if;
  if not writes or f.run <> known_run or f.begins <> known_begins
      or (cell is not null and (f.digest <> known_digest or f.change <> known_change)) then
    return json_build_array(
      f.run, sluice_now(at_us), f.begins, f.record, f.bucket, f.digest, f.ends, f.change, f.content
    )::text;
  elsif new_rows not in ('', '-') and f.change = 0 and f.cells >= max_cells then
    return '0';
  end if;
  if new_bucket = '' and f.digest <> '' then
    perform sluice_reset(array[cell]);
  elsif new_bucket not in ('', '-') then
    numbers := new_bucket::bigint[];
    insert into sluice_plan (plan_id, n, m, burst) values (numbers[1], numbers[6], numbers[7], numbers[8])
      on conflict do nothing;
    s.id := cell;
    s.kind := 0;
    s.plan_id := numbers[1];
    s.zero := numbers[2];
    s.rest := numbers[3];
    s.seen := numbers[4];
    s.keep_for := numbers[5];
    if not sluice_write(s, f.digest <> '') then
      return null;
    end if;
  end if;
  if not numbered then
    return f.changes::text;
  elsif new_rows = '' then
    delete from sluice_cell c where c.id = cell;
    added := -(f.change > 0)::int;
  elsif new_rows <> '-' then
    insert into sluice_cell (id, change, content) values (cell, f.changes + 1, new_rows)
      on conflict (id) do update set change = excluded.change, content = excluded.content;
    added := (f.change = 0)::int;
  end if;
  update sluice_region r set
      changes = f.changes + 1, written = txid_current() % 4294967296, cells = r.cells + added,
      changed = case when new_record = '' then r.changed else f.changes + 1 end,
      record = coalesce(nullif(new_record, ''), r.record);
  return (f.changes + 1)::text;
end $$;
` },
  { name: 'region_needs', hash: '422a5e59', source: `create function sluice_region_needs(own text, new_entry text, keep_us bigint, most bigint) returns text
language plpgsql volatile as $$
declare
  now_us bigint := sluice_now(0);
begin
  perform sluice_regions_allowed();
  if new_entry = '' then
    delete from sluice_need n where n.process = own;
  else
    update sluice_need n set at = now_us where n.process = own and n.entry = new_entry;
    if not found then
      insert into sluice_need (process, at, entry) select own, now_us, new_entry
        where (select count(*) from sluice_need n where n.process <> own and abs(now_us - n.at) <= keep_us) < most
          or exists (select from sluice_need n where n.process = own)
        on conflict (process) do update set at = excluded.at, entry = excluded.entry;
    end if;
  end if;
  delete from sluice_need n using (
    select o.process from sluice_need o where o.process <> own and abs(now_us - o.at) > keep_us for update skip locked
  ) expired where n.process = expired.process;
  return (
    select coalesce(json_agg(n.entry), '[]')::text from sluice_need n
      where n.process <> own and abs(now_us - n.at) <= keep_us
  );
end $$;
` },
  { name: 'region_rows', hash: '43b04f94', source: `create function sluice_region_rows(at_us bigint, since bigint, most bigint) returns text language plpgsql volatile as $$
begin
  perform sluice_regions_allowed();
  return coalesce((
    select json_build_array(r.mark, sluice_now(at_us), r.record, r.changes, (
        select coalesce(json_agg(json_build_array(n.change, n.content) order by n.change), '[]') from (
          select c.change, c.content from sluice_cell c where c.change > since order by c.change limit most
        ) n
      ))
      from sluice_region r where sluice_same_run(r.started, r.xmin, r.written)
  )::text, '[]');
end $$;
` },
  { name: 'release', hash: '32ef8966', source: `create function sluice_release(at_us bigint, ids uuid[], holders bigint[]) returns void language plpgsql volatile as $$
declare
  was sluice_state;
  s sluice_state;
begin
  for i in 1..cardinality(ids) loop
    select t.* into was from sluice_state t where t.id = ids[i] for update;
    continue when was.plan_id is null;
    if was.kind <> 4 then
      raise exception 'a state is of kind %, where 4 is known', was.kind using errcode = 'SL002';
    end if;
    s := sluice_give_back(was, holders[2 * i - 1], holders[2 * i], sluice_now(at_us));
    if s.id is null then
      perform sluice_reset(array[was.id]);
    elsif s.state <> was.state then
      perform sluice_write(s, true);
    end if;
  end loop;
end $$;
` },
  { name: 'reserve', hash: 'bc3c1dd7', source: `create function sluice_reserve(
  at_us bigint, charging boolean, waiting int, ids uuid[], firsts int[], sizes int[], plans bigint[], calls bigint[]
) returns text language plpgsql volatile
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off as $$
declare
  many int := cardinality(sizes);
  plan bigint[] := plans[8 * calls[3] - 7:8 * calls[3]];
  hold bigint[] := plans[8 * calls[7] - 7:8 * calls[7]];
  n bigint := plan[3];
  m bigint := plan[4];
  burst bigint := plan[5];
  token_us bigint := m * 1000000 / n;
  token_parts bigint := m * 1000000 % n;
  micro_us bigint := m / n;
  micro_parts bigint := m % n;
  empty_parts bigint := burst / 1000000 * token_parts + burst % 1000000 * micro_parts;
  empty_us bigint := burst / 1000000 * token_us + burst % 1000000 * micro_us + (empty_parts + n - 1) / n;
  there int;
  plain int;
  lies_at tid[];
  a_of bigint[];
  b_of bigint[];
  c_of bigint[];
  now_us bigint;
  passed int;
  written int;
  made int;
  outcomes text;
  buckets text;
begin
  if waiting < 2 then
    select count(k.lies_at), count(*) filter (
          where k.plan_id = plan[2] and k.kind = 0 and k.blocked_until is null and k.keep_for is null
        ),
        array_agg(coalesce(k.lies_at, '(0,0)')), array_agg(coalesce(k.zero, 0)), array_agg(coalesce(k.rest, 0)),
        array_agg(coalesce(k.seen, 0)),
        string_agg(
          case when k.zero is null then ',0,0,0,0,0,0'
            else format(',0,%s,%s,%s,%s,0', calls[3], k.zero, coalesce(k.rest, 0), k.seen) end, '' order by x.nth
        )
      into there, plain, lies_at, a_of, b_of, c_of, buckets
      from unnest(ids) with ordinality as x (id, nth) left join lateral (
        select t.ctid as lies_at, t.kind, t.plan_id, t.zero, t.rest, t.seen, t.keep_for, t.blocked_until
          from sluice_state t where t.id = x.id for update
      ) k on true;
  end if;
  if plain is distinct from many or there <> many then
    return sluice_consume(
      at_us, charging, case when waiting < 2 then 3 else waiting end, ids, firsts, sizes, plans, calls
    )::text;
  end if;
  now_us := sluice_now(at_us);
  empty_parts := (n - empty_parts % n) % n;
  with asked as (
    select g, calls[8 * g - 7] as slot, calls[8 * g - 6] as cost, calls[8 * g - 3] as record
      from generate_series(1, many) g
  ), found as (
    select k.*, a_of[k.slot] as a, b_of[k.slot] as b, greatest(now_us, c_of[k.slot]) as at from asked k
  ), level as (
    select f.*, f.a > f.at - empty_us or (f.a = f.at - empty_us and f.b > empty_parts) as partly from found f
  ), charged as (
    select l.*, case when l.partly then l.b else empty_parts end
          + l.cost / 1000000 * token_parts + l.cost % 1000000 * micro_parts as parts,
        case when l.partly then l.a else l.at - empty_us end
          + l.cost / 1000000 * token_us + l.cost % 1000000 * micro_us as whole
      from level l
  ), decided as materialized (
    select c.*, c.whole + c.parts / n as zero, c.parts % n as rest,
        c.whole + c.parts / n < c.at or (c.whole + c.parts / n = c.at and c.parts % n = 0) as passes
      from charged c
  ), wrote as (
    update sluice_state t set zero = d.zero, rest = nullif(d.rest, 0), seen = d.at from decided d
      where t.ctid = lies_at[d.slot] and t.id = ids[d.slot] and d.passes returning 1
  ), recorded as (
    insert into sluice_state (id, kind, plan_id, ends, state)
      select ids[d.record], 4, 0, now_us + hold[4] + 60000000, format(
          '%s %s %s %s %s %s 0 %s', now_us, now_us + hold[4], hold[5], hold[7], d.cost, d.cost, d.zero
        )::bytea
        from decided d where d.passes order by d.record
      on conflict (id) do nothing returning 1
  )
  select count(*) filter (where d.passes), (select count(*) from wrote), (select count(*) from recorded),
      string_agg(case when d.passes then '0' else '1' end, ',' order by d.g)
    into passed, written, made, outcomes from decided d;
  if written <> passed or made <> passed then
    raise exception 'sluice: rows of % holds were written or made meanwhile', 2 * passed - written - made
      using errcode = '40001';
  end if;
  return '{' || now_us || ',' || outcomes || buckets || '}';
end $$;
` },
  { name: 'settle_bucket', hash: '4e9f2e51', source: `create function sluice_settle_bucket(
  was sluice_state, plan bigint[], held bigint, used bigint, mark bigint, now_us bigint,
  out s sluice_state, out charged bigint
) language plpgsql immutable as $$
declare
  n numeric := plan[3];
  m numeric := plan[4];
  full_span numeric := plan[5] * m;
  at bigint := greatest(now_us, was.seen);
  lowest numeric := at * n - full_span;
  zero numeric := greatest(was.zero * n + coalesce(was.rest, 0), lowest);
  room numeric;
begin
  s := was;
  charged := used;
  if used > held then
    room := greatest(0, sluice_floor(at * n - zero + full_span, m));
    charged := held + least(used - held, room);
    if charged > held then
      s := sluice_adjust_bucket(s, plan, held - charged, -1, now_us);
    end if;
    return;
  end if;
  room := full_span - (greatest(zero, at * n) - mark * n);
  if room <= 0 or used = held then
    return;
  elsif (held - used) * m <= room then
    s := sluice_adjust_bucket(s, plan, held - used, -1, now_us);
    return;
  end if;
  if zero = lowest then
    s.keep_for := case when at < greatest(s.seen, s.zero) + s.keep_for then s.keep_for end;
  end if;
  zero := zero - room;
  if zero <= lowest and s.keep_for is null then
    s := null;
    return;
  end if;
  s.plan_id := plan[2];
  s.zero := sluice_floor(zero, n);
  s.rest := zero - s.zero * n;
  s.seen := at;
end $$;
` },
  { name: 'settle_window', hash: 'fa379f59', source: `create function sluice_settle_window(
  was sluice_state, plan bigint[], held bigint, used bigint, charge_us bigint, phase bigint, now_us bigint,
  out s sluice_state, out charged bigint
) language plpgsql immutable as $$
declare
  burst bigint := plan[3];
  part bigint;
  taken bigint;
begin
  s := sluice_window_at(was, plan, phase, now_us);
  part := sluice_part(s.ends, s.plan_id, s.turn, plan[4], now_us);
  taken := greatest(0, s.current - part * burst);
  charged := held + greatest(0, least(used - held, 2 * burst - taken));
  if charge_us >= s.ends - s.plan_id + part * plan[4] then
    charged := charged - least(greatest(0, held - used), taken);
  end if;
  s := case when charged = held then was
    else sluice_adjust_window(was, plan, held - charged, charge_us, phase, now_us) end;
end $$;
` },
  { name: 'settle_counter', hash: '5e88894f', source: `create function sluice_settle_counter(
  was sluice_state, plan bigint[], held bigint, used bigint, charge_us bigint, now_us bigint,
  out s sluice_state, out charged bigint
) language plpgsql immutable as $$
declare
  most bigint := 2 * plan[3];
  own sluice_state := sluice_counter_at(was, plan[4], now_us);
  current bigint := coalesce(own.current, 0);
  previous bigint := coalesce(own.previous, 0);
  is_previous boolean := charge_us < own.ends - own.plan_id and charge_us >= own.ends - 2 * own.plan_id;
  is_current boolean := charge_us >= own.ends - own.plan_id;
  room bigint;
begin
  s := was;
  charged := held;
  if used < held then
    room := least(held - used, case when is_current then current when is_previous then previous else 0 end);
    if room > 0 then
      s := sluice_adjust_counter(was, plan, room, charge_us, now_us);
      charged := held - room;
    end if;
    return;
  end if;
  room := most - current - case when previous > 0 then sluice_share(own, plan, now_us) else 0 end;
  room := least(used - held, room, case when is_previous then most - previous else room end);
  if room > 0 then
    charged := held + room;
    s := own;
    s.current := current + case when is_previous then 0 else room end;
    s.previous := previous + case when is_previous then room else 0 end;
  end if;
end $$;
` },
  { name: 'settle_part', hash: '42f48b9a', source: `create function sluice_settle_part(
  was sluice_state, plan bigint[], held bigint, used bigint, charge_us bigint, mark bigint, phase bigint, now_us bigint,
  out s sluice_state, out charged bigint
) language plpgsql stable as $$
declare
  settled record;
begin
  s := was;
  if s.plan_id <> plan[2] or s.kind = 1 or s.absent = 1 then
    s := sluice_adopt(s, plan, '{}', phase, now_us);
  end if;
  if plan[1] = 0 then
    settled := sluice_settle_bucket(s, plan, held, used, mark, now_us);
  elsif plan[1] = 1 then
    settled := sluice_settle_window(s, plan, held, used, charge_us, phase, now_us);
  else
    settled := sluice_settle_counter(s, plan, held, used, charge_us, now_us);
  end if;
  s := settled.s;
  charged := settled.charged;
  s.kind := case when s.plan_id is not null then plan[1] end;
end $$;
` },
  { name: 'write_rows', hash: '9cd83c21', source: `create function sluice_write_rows(rows_of sluice_state[]) returns void language plpgsql volatile
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off as $$
begin
  update sluice_state t set
      kind = s.kind, plan_id = s.plan_id, zero = s.zero, rest = nullif(s.rest, 0), seen = s.seen, ends = s.ends,
      current = nullif(s.current, 0), previous = nullif(s.previous, 0), turn = nullif(s.turn, 0), absent = s.absent,
      keep_for = nullif(s.keep_for, 0), state = s.state
    from unnest(rows_of) s where t.id = s.id;
end $$;
` },
  { name: 'settle', hash: '4bc95247', source: `create function sluice_settle(at_us bigint, ids uuid[], plans bigint[], changes bigint[]) returns bigint[]
language plpgsql volatile as $$
declare
  was sluice_state[];
  states sluice_state[];
  s sluice_state;
  parts bigint[];
  plan bigint[];
  settled record;
  now_us bigint;
  head int := 0;
  status int;
  changed sluice_state[] := '{}';
  call int;
  target int;
  reply bigint[] := '{}';
begin
  select array_agg(k.t) into was from unnest(ids) as x (id)
    left join lateral (select t from sluice_state t where t.id = x.id for update) k on true;
  now_us := sluice_now(at_us);
  states := was;
  while head < cardinality(changes) loop
    s := states[changes[head + 1]];
    if s.kind <> 4 then
      raise exception 'a state is of kind %, where 4 is known', s.kind using errcode = 'SL002';
    end if;
    parts := case when now_us < s.ends then string_to_array(encode(s.state, 'escape'), ' ')::bigint[] end;
    status := case
      when parts is null then 0
      when parts[3] > 0 then 1
      when now_us < parts[2] then 2
      else 3
    end;
    if status = 2 and changes[head + 2] >= 0 then
      parts[2] := greatest(parts[2], now_us + changes[head + 2]);
      for c in 1..changes[head + 5] loop
        call := head + 5 * c;
        for at in 3..cardinality(parts) - 5 by 5 loop
          continue when parts[at + 1] <> changes[call + 1];
          target := changes[call + 2];
          if (states[target]).kind <> plans[8 * changes[call + 3] - 7] then
            raise exception 'a state is of kind %, where % is known', (states[target]).kind, plans[8 * changes[call + 3] - 7]
              using errcode = 'SL002';
          end if;
          states[target] := sluice_prolong(states[target], changes[head + 3], changes[head + 4], changes[head + 2], now_us);
        end loop;
      end loop;
    elsif status = 2 then
      parts[3] := 1;
      for at in 3..cardinality(parts) - 5 by 5 loop
        call := head + 5;
        while call < head + 5 + 5 * changes[head + 5] and changes[call + 1] <> parts[at + 1] loop
          call := call + 5;
        end loop;
        continue when call >= head + 5 + 5 * changes[head + 5];
        target := changes[call + 2];
        plan := plans[8 * changes[call + 3] - 7:8 * changes[call + 3]];
        if (states[target]).kind <> plan[1] then
          raise exception 'a state is of kind %, where % is known', (states[target]).kind, plan[1] using errcode = 'SL002';
        elsif plan[1] = 4 then
          if (states[target]).plan_id is not null then
            states[target] := sluice_give_back(states[target], changes[head + 3], changes[head + 4], now_us);
          end if;
          parts[at + 3] := 0;
        elsif changes[head + 2] = -1 then
          settled := sluice_settle_part(
            states[target], plan, parts[at + 2], changes[call + 5], parts[1], parts[at + 5], changes[call + 4], now_us
          );
          states[target] := settled.s;
          parts[at + 3] := settled.charged;
          parts[at + 4] := greatest(0, changes[call + 5] - settled.charged);
        end if;
      end loop;
    end if;
    if status = 2 then
      s.state := array_to_string(parts, ' ');
      s.ends := parts[2] + 60000000;
      states[changes[head + 1]] := s;
    end if;
    reply := reply || array[status, coalesce(cardinality(parts), 0)] || parts;
    head := head + 5 + 5 * changes[head + 5];
  end loop;
  for i in 1..cardinality(ids) loop
    s := states[i];
    continue when s is not distinct from was[i] or (s.plan_id is null and (was[i]).plan_id is null);
    if s.plan_id is null then
      perform sluice_reset(array[ids[i]]);
      continue;
    end if;
    s.id := ids[i];
    if s.kind = 0 and s.plan_id is distinct from (was[i]).plan_id then
      insert into sluice_plan (plan_id, n, m, burst)
        select s.plan_id, plans[8 * p - 5], plans[8 * p - 4], plans[8 * p - 3]
          from generate_series(1, cardinality(plans) / 8) p
          where plans[8 * p - 7] = 0 and plans[8 * p - 6] = s.plan_id
          limit 1
        on conflict do nothing;
    end if;
    if (was[i]).id is not null then
      changed := changed || s;
    elsif not sluice_write(s, false) then
      raise exception 'sluice: a state was made meanwhile' using errcode = '40001';
    end if;
  end loop;
  if cardinality(changed) > 3 then
    perform sluice_write_rows(changed);
  else
    foreach s in array changed loop
      perform sluice_write(s, true);
    end loop;
  end if;
  return reply;
end $$;
` },
  { name: 'sweep', hash: 'b40c4f2d', source: `create function sluice_sweep(first_page bigint, pages bigint) returns bigint[] language plpgsql volatile as $$
declare
  now_us bigint := sluice_now(0);
  gone uuid[];
begin
  with expired as (
    select t.id from sluice_state t left join sluice_plan p on p.plan_id = t.plan_id
    where t.ctid >= format('(%s,0)', first_page)::tid and t.ctid < format('(%s,0)', first_page + pages)::tid
      and (t.kind > 0 or t.kind is null or p.plan_id is not null)
      and sluice_fresh(t, p.n, p.m, p.burst) <= now_us - 2000000
      and not exists (select from sluice_cell c where c.id = t.id)
    for update of t skip locked
  ), swept as (
    delete from sluice_state t using expired where t.id = expired.id returning t.id
  )
  select array_agg(swept.id) into gone from swept;
  delete from sluice_log e where e.id = any(gone);
  return array[
    coalesce(cardinality(gone), 0),
    ((first_page + pages) * current_setting('block_size')::bigint < pg_relation_size('sluice_state'))::int
  ];
end $$;
` },
]

export const checkProgram: string = `create or replace function sluice_check(
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
`

export const compatProgram: string = `create table if not exists rate_limiting_token_bucket (
  id text primary key,
  tk bigint not null,
  ts timestamptz not null
);
alter table rate_limiting_token_bucket add column if not exists part int not null default 0;
create or replace function rate_limiting_token_bucket_request(
  rate_id text, refill_per_sec int default 2, window_seconds int default 60
) returns int language plpgsql volatile as $$
declare
  capacity bigint := refill_per_sec::bigint * window_seconds;
  bucket record;
  at timestamptz;
  elapsed bigint;
  level numeric;
begin
  if capacity < 1 or refill_per_sec < 1 then
    return -1;
  end if;
  loop
    select b.tk, b.part, b.ts into bucket from rate_limiting_token_bucket b where b.id = rate_id for update;
    exit when found;
    insert into rate_limiting_token_bucket (id, tk, ts) values (rate_id, capacity, clock_timestamp())
      on conflict (id) do nothing;
  end loop;
  at := greatest(clock_timestamp(), bucket.ts);
  elapsed := (extract(epoch from at - bucket.ts) * 1000000)::bigint;
  level := greatest(bucket.tk, 0) * 1000000::numeric + bucket.part + elapsed::numeric * refill_per_sec;
  level := least(level, capacity * 1000000::numeric);
  if level < 1000000 then
    return -1;
  end if;
  level := level - 1000000;
  update rate_limiting_token_bucket b
    set tk = div(level, 1000000), part = level % 1000000, ts = at where b.id = rate_id;
  return least(div(level, 1000000), 2147483647);
end $$;
`
