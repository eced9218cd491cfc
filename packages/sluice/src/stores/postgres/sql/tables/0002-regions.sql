-- For rights to tokens that regions send to each other (docs/decisions/0035). The tables are unlogged: after a crash, a
-- promotion or a restore of files the server is in another run (life of its data), where nothing in them counts.
--
-- mark      names the run
-- started   when the server was started
-- written   the transaction that wrote the row; xmin is another one after a restore from a dump
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

-- One row for each key of which units (thousandths of its limit) were sent or received. change: number of the row's
-- last change; content: scope (limiter, limit and algorithm), key, and what was sent and received
create unlogged table sluice_cell (
  id uuid primary key,
  change bigint not null unique,
  content text not null
);
