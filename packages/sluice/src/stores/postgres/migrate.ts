import { sha256 } from '../../keys/sha256.ts'
import { TEXT_CHANGED, TOO_YOUNG } from './failures.ts'
import { functionNames, installedFunctions, named } from './functions.ts'
import type { PostgresPort } from './clients/postgres-port.ts'
import { compatProgram, checkProgram, functions as embedded, migrations, type SqlFunction } from './programs.gen.ts'

/** An arbitrary number that nothing else in a database is likely to lock. */
const LOCK = 7_218_054_101
const TABLES = ['sluice_state', 'sluice_plan', 'sluice_log']

/** Options of `migrate`. */
export interface MigrateOptions {
  /**
   * Also creates the table and the function of the article "Rate limiting with PostgreSQL / YugabyteDB" (docs/stores/postgres.md), for
   * callers in SQL.
   */
  readonly compatFunction?: boolean | undefined
  /** Also drops the functions of other versions. It is an error if one of them was installed in the last seven days. */
  readonly prune?: boolean | undefined
  /** With `prune`: drops the functions whatever their age. Processes of those versions cannot decide from then on. */
  readonly force?: boolean | undefined
}

export interface SchemaOptions extends MigrateOptions {
  readonly table: string
  readonly unlogged?: boolean | undefined
  /** Functions to install instead of this version's, for tests. */
  readonly functions?: readonly SqlFunction[]
}

/** Applies each migration and installs each function once. A lock makes concurrent callers take turns. */
export async function migrate(client: PostgresPort, options: SchemaOptions): Promise<void> {
  const { table, unlogged, functions = embedded } = options
  const names = functionNames(table, functions)
  const installed = installedFunctions(table, functions)
  const current = installed.map(({ name }) => `'${name}'`).join(', ')
  const own = (text: string): string => named(text, table, names)
  const steps = [
    own(LEDGERS),
    ...migrations.map((migration) => own(applied(migration))),
    ...installed.map(({ name, create }) => filled(own(MADE), name, create)),
    filled(own(STABLE), sha256(own(checkProgram)), own(checkProgram)),
    ...(unlogged === undefined ? [] : TABLES.map((name) => own(persistent(name, unlogged)))),
    ...(options.compatFunction === true ? [`\n  execute $compat$${compatProgram}$compat$;`] : []),
    ...(options.prune === true ? [filled(own(options.force === true ? DROPPED : YOUNG + DROPPED), current, '')] : []),
  ]
  await client.run(`do $migrate$ declare
  known text;
  other text;
begin
  perform pg_advisory_xact_lock(${LOCK});${steps.join('')}
end $migrate$`)
}

/** The text is filled in last, so that nothing inside it is replaced. */
function filled(step: string, name: string, text: string): string {
  return step.replaceAll('@name', () => name).replace('@text', () => text)
}

const LEDGERS = `
  if to_regclass('sluice_functions') is null then
    create table sluice_migrations (name text primary key, sha256 text not null, applied_at timestamptz not null default now());
    create table sluice_functions (name text primary key, sha256 text, installed_at timestamptz not null default now());
  end if;`

function applied({ name, sha256: hash, source }: (typeof migrations)[number]): string {
  return `
  select sha256 into known from sluice_migrations where name = '${name}';
  if not found then
    execute $migration$${source}$migration$;
    insert into sluice_migrations (name, sha256) values ('${name}', '${hash}');
  elsif known <> '${hash}' then
    raise exception 'migration ${name} was applied with another text' using errcode = '${TEXT_CHANGED}';
  end if;`
}

const MADE = `
  if to_regproc('@name') is null then
    execute $function$@text$function$;
    insert into sluice_functions (name) values ('@name') on conflict do nothing;
  end if;`

/** `sluice_check`, for callers in other languages, keeps its name in all versions, and has the text of the last migration. */
const STABLE = `
  if not exists (select from sluice_functions f where f.name = 'sluice_check' and f.sha256 = '@name') then
    execute $function$@text$function$;
    insert into sluice_functions (name, sha256) values ('sluice_check', '@name')
      on conflict (name) do update set sha256 = excluded.sha256, installed_at = now();
  end if;`

const OTHERS = 'f.sha256 is null and f.name not in (@name)'
const YOUNG = `
  select f.name into other from sluice_functions f where ${OTHERS} and f.installed_at > now() - interval '7 days' limit 1;
  if found then
    raise exception 'functions of another version were installed in the last seven days, among them %', other using errcode = '${TOO_YOUNG}';
  end if;`
const DROPPED = `
  for other in select f.name from sluice_functions f where ${OTHERS} loop
    execute 'drop function if exists ' || quote_ident(other);
    delete from sluice_functions f where f.name = other;
  end loop;`

/** Changing this rewrites the table, so it is skipped if nothing changes. */
function persistent(name: string, unlogged: boolean): string {
  const [want, kind] = unlogged ? ['u', 'unlogged'] : ['p', 'logged']
  return `
  if (select relpersistence <> '${want}' from pg_class where oid = '${name}'::regclass) then
    alter table ${name} set ${kind};
  end if;`
}
