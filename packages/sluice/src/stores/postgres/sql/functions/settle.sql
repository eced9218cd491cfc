-- Settles or extends holds, as algorithms/settle-hold.ts does.
--
-- ids, plans  as for sluice_consume
-- changes  for each hold: index of its record in ids (from 1); microseconds from now to which it is extended, -1 to
--          settle it, -2 to settle it and leave what it charged; its holder's two numbers; how many calls; for each
--          call: number that names its limit, index into ids, index into plans (from 1), phase (see sluice_fresh_end),
--          micro-tokens used
-- returns  for each hold: status before (0 unknown, 1 settled, 2 open, 3 expired); how many numbers its record has;
--          these, after the change
create function sluice_settle(at_us bigint, ids uuid[], plans bigint[], changes bigint[]) returns bigint[]
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
      -- An extension changes slots only.
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
        -- The first call of the limit that this part of the record names.
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
