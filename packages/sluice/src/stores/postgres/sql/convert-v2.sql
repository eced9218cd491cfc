-- The part of sluice_consume_v2 that brings a state in its plan's unit, as the kernels' adopt (law 7).
      -- A state of another unit is converted, and the conversion stays whatever the group's outcome (law 7); null: as fresh as none.
      if unit <> own_unit or (kind = 1 and hold = 5) or (kind = 2 and hold = 1) then
        own_len := unit / 4;
        converted := true;
        if kind = 0 then
          -- The plan that wrote it: of an earlier group, or one from the table.
          select a, b, c, hold, p.n, p.m, p.burst, null::bigint into strict s from (
            select plans[8 * g - 5] as n, plans[8 * g - 4] as m, plans[8 * g - 3] as burst
              from generate_series(1, cardinality(known)) g where plans[8 * g - 6] = unit_of[slot]
            union all
            select k.n, k.m, k.burst from sluice_plan k where k.unit = unit_of[slot]
          ) p limit 1;
          s := sluice_tb_adopt_v1(s, n, m, burst, now_us);
          unit := case when s.n is not null then own_unit end;
          a := s.zero;
          b := s.rest;
          c := s.seen;
          hold := s.hold;
        elsif kind = 1 then
          looked := sluice_window_adopt_v2(a, own_len, hold, len, align, sluice_fresh_end_v2(len, align, calls[place + 4], now_us), now_us);
          converted := looked <> array[a, own_len, hold];
          unit := 4 * looked[2] + 1;
          a := looked[1];
          -- Of what was counted anew, a longer plan finds nothing left.
          b := case when hold = 6 and looked[3] = 4 then 9007199254740991 else b end;
          hold := looked[3];
        elsif kind = 2 then
          if own_len = len or (own_len > len and now_us < a) then
            converted := own_len = len and now_us < a;
            hold := case when converted then 0 else hold end;
          else
            if now_us >= a then
              c := case when now_us < a + own_len then b else 0 end;
              b := 0;
              a := a + own_len;
            end if;
            if own_len > len and hold = 0 then
              unit := case when c > 0 then unit end;
              hold := 1;
            else
              a := a - own_len + len;
              unit := case when now_us < a and b + c > 0 then own_unit end;
              hold := 0;
            end if;
          end if;
        else
          hold := greatest(own_len, hold);
          unit := case when a + hold > now_us then own_unit end;
          hold := case when hold > len then hold else 0 end;
        end if;
        if unit is not null and converted then
          unit_of[slot] := unit;
          a_of[slot] := a;
          b_of[slot] := b;
          c_of[slot] := c;
          hold_of[slot] := hold;
          changed[slot] := true;
        end if;
      end if;
