-- For rights to tokens that regions send to each other (docs/decisions/0035). Both tables are unlogged: after a crash,
-- a promotion or a restore of files they are empty. That is right, because the server is then in another run (life of
-- its data), and nothing in them counts.
--
-- one       there is at most one row
-- mark      names the run; a new one is drawn where the row is not of this run
-- started   when the server was started
-- written   the transaction that wrote the row. One that was restored from a dump was written by another transaction
-- changes   how often cells or the record were written
-- changed   the number of the change that wrote the record
-- cells     how many rows sluice_cell has
-- record    what the region knows of itself and of the others, as JSON; null for none
create unlogged table sluice_region (
  one boolean primary key default true check (one),
  mark uuid not null,
  started timestamptz not null,
  written bigint not null,
  changes bigint not null,
  changed bigint not null,
  cells bigint not null,
  record text
);

-- One row for each key of which units (thousandths of its limit) were sent or received. id: as in sluice_state; change:
-- the number of the row's last change; content: scope (limiter, limit and algorithm) and key, and what was sent and
-- received, as text
create unlogged table sluice_cell (
  id uuid primary key,
  change bigint not null unique,
  content text not null
);
