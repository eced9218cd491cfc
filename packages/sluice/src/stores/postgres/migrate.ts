import { migrations } from './programs.gen.ts'
import type { PostgresPort } from './postgres-port.ts'

/** Any number that nothing else in a database is likely to lock. */
const LOCK = 7_218_054_101

/**
 * Brings the schema up to date: each migration once, recorded in a ledger, under a lock, so that any number of processes may
 * start together. What is there already is left alone.
 */
export async function migrate(client: PostgresPort): Promise<void> {
  const steps = migrations.map(
    ({ name, source }) => `
  if not exists (select from sluice_migrations where name = '${name}') then
    execute $sluice_migration$${source}$sluice_migration$;
    insert into sluice_migrations (name) values ('${name}');
  end if;`,
  )
  await client.run(`do $sluice$ begin
  perform pg_advisory_xact_lock(${LOCK});
  if to_regclass('sluice_migrations') is null then
    create table sluice_migrations (name text primary key, applied_at timestamptz not null default now());
  end if;${steps.join('')}
end $sluice$`)
}
