-- End of the window that contains now_us. align 0: windows are counted from 1970; 1: they begin at their first call; 2:
-- as 0, but shifted by the phase, a number below 2^32 from the key.
create function sluice_fresh_end(len bigint, align bigint, phase bigint, now_us bigint) returns bigint
language plpgsql immutable as $$
declare
  shift bigint := case when align = 2 then div(phase::numeric * len, 4294967296) else 0 end;
begin
  return case
    when align = 1 then now_us + len
    else ((now_us - shift - case when now_us < shift then len - 1 else 0 end) / len + 1) * len + shift
  end;
end $$;
