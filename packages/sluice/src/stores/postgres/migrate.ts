import { TEXT_CHANGED } from './failures.ts'
import { articleProgram, migrations } from './programs.gen.ts'
import type { PostgresPort } from './postgres-port.ts'

/** Any number that nothing else in a database is likely to lock. */
const LOCK = 7_218_054_101

export interface MigrateOptions {
  readonly table: string
  readonly unlogged?: boolean | undefined
  readonly article?: boolean | undefined
}

/**
 * Brings the schema up to date: each migration once, recorded in a ledger, under a lock, so that any number of processes may
 * start together. What is there already is left alone; a migration that was applied with another text is an error.
 */
export async function migrate(client: PostgresPort, { table, unlogged, article }: MigrateOptions): Promise<void> {
  const own = (text: string): string => (table === 'sluice' ? text : text.replaceAll('sluice_', `${table}_`))
  const steps = migrations.map(
    ({ name, sha256, source }) => `
  select sha256 into applied from sluice_migrations where name = '${name}';
  if not found then
    execute $migration$${own(source)}$migration$;
    insert into sluice_migrations (name, sha256) values ('${name}', '${sha256}');
  elsif applied <> '${sha256}' then
    raise exception 'migration ${name} was applied with another text' using errcode = '${TEXT_CHANGED}';
  end if;`,
  )
  await client.run(
    own(`do $migrate$ declare
  applied text;
begin
  perform pg_advisory_xact_lock(${LOCK});
  if to_regclass('sluice_migrations') is null then
    create table sluice_migrations (name text primary key, sha256 text not null, applied_at timestamptz not null default now());
  end if;${steps.join('')}${unlogged === undefined ? '' : persistence(unlogged)}${article === true ? ARTICLE : ''}
end $migrate$`),
  )
}

const ARTICLE = `
  execute $article$${articleProgram}$article$;`

/** Changing it writes the tables anew, so it is done only where they are not so yet. */
function persistence(unlogged: boolean): string {
  const [want, kind] = unlogged ? ['u', 'unlogged'] : ['p', 'logged']
  const change = (name: string): string => `
  if (select relpersistence <> '${want}' from pg_class where oid = '${name}'::regclass) then
    alter table ${name} set ${kind};
  end if;`
  return ['sluice_state', 'sluice_plan', 'sluice_log'].map(change).join('')
}
