-- Reads or replaces the record (what a database knows of its regions) and one cell (a key of a limit): its state, and
-- its rows, which say what units were sent and received. Replaces only if all is as it was read. Meanwhile no decision
-- by shares can run, because sluice_guard needs the same locks.
--
-- which         the row id of a cell; empty for none
-- known_*       what was read, to write; empty for none. known_run: run (life of the database's data), empty to read;
--               known_begins: run, and number of the record's last change; known_digest: version (xmin) of the state's
--               row; known_change: number of the rows' last change, 0 for none
-- new_record    empty to leave it
-- new_bucket    plan id, zero, rest, seen, keep_for, n, m, burst as an array; empty for no state, `-` to leave it
-- new_rows      empty for none, `-` to leave them
-- max_cells     the most cells with rows
-- returns       if something is written, the last change's number, or 0 if there is no room for another cell. To read,
--               and if something has changed, JSON: run, time, as known_begins, record, state (zero to burst), as
--               known_digest, until when the key is blocked, as known_change, rows. Null, with nothing written, if
--               another transaction has inserted the state: the caller then calls again
create function sluice_region(
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
    -- The commit need not wait for the disk: after a crash the server is in another run, where nothing written before
    -- counts.
    perform set_config('synchronous_commit', 'off', true);
    -- If the state has no row, blocks sluice_guard, which takes this lock too. A row's lock also blocks sluice_guard.
    perform pg_advisory_xact_lock(uuid_hash_extended(cell, 'sluice_cell'::regclass::oid::bigint));
    perform from sluice_state t where t.id = cell for update;
    if new_record = '' then
      perform pg_advisory_xact_lock_shared(hashtextextended('sluice_region', 0));
    else
      perform pg_advisory_xact_lock(hashtextextended('sluice_region', 0));
    end if;
    -- Only one transaction writes at a time. So changes become visible in the order of their numbers.
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
    -- The first call of a run draws its mark.
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
