-- One row that sluice_consume_v2 has found and locked.
      place := found_row.place;
      stored[place] := true;
      unit_of[place] := found_row.unit;
      a_of[place] := found_row.a;
      b_of[place] := coalesce(found_row.b, 0);
      c_of[place] := coalesce(found_row.c, 0);
      d_of[place] := coalesce(found_row.d, 0);
      hold_of[place] := coalesce(found_row.hold, 0);
      until_of[place] := coalesce(found_row.until, 0);
