-- Encodes a part of a state's name, as keys/encode.ts. Characters that do not match `plain` become UTF-16 units, each
-- as %XXXX.
create function sluice_name_part(raw text, plain text) returns text language sql immutable as $$
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
