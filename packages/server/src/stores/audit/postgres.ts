import { parseStoreUrl } from 'sluice/policy'
import { hasPassword } from '../store-name.ts'
import { addAccess, addClock, type Audited, type AuditRequest, type FindingList, findingList, type LimitUse } from './report.ts'

export type Row = Readonly<Record<string, unknown>>
/** Runs a statement in a transaction that can only read. */
export type Query = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>

export interface Database {
  readonly query: Query
  readonly url: string
}

const KINDS = ['token-bucket', 'fixed-window', 'sliding-window-counter', 'sliding-window-log', 'another algorithm']
const SETTINGS = [
  'server_version',
  'server_version_num',
  'default_transaction_read_only',
  'default_transaction_isolation',
  'synchronous_commit',
  'synchronous_standby_names',
  'fsync',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'max_connections',
  'autovacuum',
]
const TABLES = ['sluice_state', 'sluice_plan', 'sluice_log', 'sluice_functions', 'sluice_migrations']
const PAGE_ROWS = 50
const LONG_SECONDS = 300
const NEARLY = 0.8

export async function auditPostgres({ query, url }: Database, request: AuditRequest): Promise<Audited> {
  const list = findingList()
  const settings = await settingsOf(query)
  addSettings(list, settings)
  const before = Date.now()
  const [row] = await query(`select extract(epoch from clock_timestamp()) * 1000 as ms`)
  const after = Date.now()
  addClock(list, Number(row?.['ms']) - (before + after) / 2, after - before)
  await addWay(list, query, url)
  await addRole(list, query)
  await addActivity(list, query, Number(settings['max_connections']))
  const there = await addTables(list, query)
  const found = there ? await countRows(query, request) : { limits: [], looked: { at: 0, of: 0 } }
  request.progress(1, 1)
  return { server: { kind: 'postgresql', ...settings }, findings: list.all, ...found }
}

async function settingsOf(query: Query): Promise<Record<string, string>> {
  const rows = await query(`select name, setting from pg_settings where name = any($1)`, [SETTINGS])
  return Object.fromEntries(rows.map((row) => [String(row['name']), String(row['setting'])]))
}

function addSettings(list: FindingList, settings: Readonly<Record<string, string>>): void {
  const is = (name: string, value: string): boolean => settings[name] === value
  const version = Number(settings['server_version_num'])
  list.add(
    version < 130_000,
    'version',
    'error',
    `PostgreSQL ${settings['server_version']} is too old`,
    'the store needs 13 or later',
    'update',
  )
  const closed = is('default_transaction_read_only', 'on')
  list.add(
    closed,
    'read-only',
    'error',
    'default_transaction_read_only is on',
    'the store can decide nothing',
    'set it to off for this account',
  )
  list.add(is('fsync', 'off'), 'fsync', 'error', 'fsync is off', 'a crash may damage the whole database', 'set fsync on')
  list.add(
    is('synchronous_commit', 'off'),
    'asynchronous-commit',
    'note',
    'synchronous_commit is off',
    'calls are faster; a crash loses the charges of the last fraction of a second',
    'leave it, unless no charge may ever be lost',
  )
  list.add(
    is('statement_timeout', '0'),
    'statement-timeout',
    'note',
    'the account has no statement_timeout',
    'a statement that hangs keeps its connection, and the rows that it has locked',
    "alter role NAME set statement_timeout = '1s' (sluice serve also gives up a silent connection after two seconds)",
  )
  list.add(
    is('idle_in_transaction_session_timeout', '0'),
    'idle-transactions',
    'note',
    'idle_in_transaction_session_timeout is 0',
    'a program that forgets to commit keeps old versions of every state, and tables grow',
    "set it, to '60s' for example",
  )
  const strict = ['repeatable read', 'serializable'].includes(settings['default_transaction_isolation'] ?? '')
  const aborts = 'calls of one key abort each other (40001) and are retried'
  const isolation = `default_transaction_isolation is ${settings['default_transaction_isolation']}`
  list.add(strict, 'isolation', 'warning', isolation, aborts, 'set read committed for this account')
  const full = 'old versions of rows are not removed, and the tables grow without end'
  list.add(is('autovacuum', 'off'), 'autovacuum', 'error', 'autovacuum is off', full, 'set autovacuum on')
}

async function addWay(list: FindingList, query: Query, url: string): Promise<void> {
  const place = parseStoreUrl(url)
  const [row] = await query(`select ssl from pg_stat_ssl where pid = pg_backend_pid()`)
  // The client can also log in by PGPASSWORD, a certificate, or the system's user on a local socket.
  const authenticated = url.includes('sslcert=') || process.env['PGPASSWORD'] !== undefined || hasPassword(url)
  const hosts = (place?.hosts ?? []).map(({ host }) => host)
  addAccess(list, hosts, row?.['ssl'] === true, authenticated || hosts.length === 0)
}

async function addRole(list: FindingList, query: Query): Promise<void> {
  const [role] = await query(
    `select rolsuper, rolcreaterole, rolcreatedb, rolreplication, pg_is_in_recovery() as standby from pg_roles where rolname = current_user`,
  )
  const names = { rolsuper: 'superuser', rolcreaterole: 'createrole', rolcreatedb: 'createdb', rolreplication: 'replication' }
  const excess = Object.entries(names).flatMap(([column, name]) => (role?.[column] === true ? [name] : []))
  list.add(
    excess.length > 0,
    'permissions-excess',
    'warning',
    `the account is ${excess.join(', ')}, which the store never needs`,
    'a stolen password could change everything on the server',
    'give the store an account of its own, with select, insert, update and delete on its tables',
  )
  const standby = 'the server is a standby'
  list.add(
    role?.['standby'] === true,
    'replica',
    'error',
    standby,
    'it can decide nothing',
    'name its primary, or target_session_attrs=read-write',
  )
}

async function addActivity(list: FindingList, query: Query, most: number): Promise<void> {
  const [row] = await query(
    `select count(*) filter (where backend_type = 'client backend') as connections,
      coalesce(max(extract(epoch from now() - xact_start)) filter (where pid <> pg_backend_pid() and backend_xmin is not null), 0) as longest,
      (select count(*) from pg_stat_replication) as replicas
    from pg_stat_activity`,
  )
  const [connections, longest] = [Number(row?.['connections']), Math.round(Number(row?.['longest']))]
  const used = `${connections} of ${most} connections are taken`
  list.add(
    connections / most > NEARLY,
    'connections',
    'warning',
    used,
    'above it calls fail as unavailable',
    'use a pooler, or raise max_connections',
  )
  list.add(
    longest > LONG_SECONDS,
    'long-transaction',
    'warning',
    `a transaction has been open for ${longest} s`,
    'old versions of every state are kept until it ends, so tables grow and calls get slower',
    'end it; keep limits in a database of their own',
  )
}

/** False if the states cannot be read. */
async function addTables(list: FindingList, query: Query): Promise<boolean> {
  const rows = await query(
    `select c.relname, c.relpersistence,
      has_table_privilege(c.oid, 'select') as readable,
      has_table_privilege(c.oid, 'insert') and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete') as writable
    from unnest($1::text[]) with ordinality as wanted (name, place) join pg_class c on c.oid = to_regclass(wanted.name) order by place`,
    [TABLES],
  )
  const names = (test: (row: Row) => boolean): string[] => rows.filter(test).map((row) => String(row['relname']))
  const missing = TABLES.filter((name) => !names(() => true).includes(name))
  const absent = `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not on the search_path`
  list.add(missing.length > 0, 'tables', 'error', absent, 'all calls fail as setup', 'sluice migrate --store URL')
  const closed = names(
    (row) => /_(?:state|plan|log)$/.test(String(row['relname'])) && !(row['readable'] === true && row['writable'] === true),
  )
  const grant = `grant select, insert, update, delete on ${closed.join(', ')} to ACCOUNT`
  list.add(closed.length > 0, 'permissions-missing', 'error', `the account may not use ${closed.join(', ')}`, 'calls fail as setup', grant)
  const unlogged = names((row) => row['relpersistence'] === 'u')
  const empties = 'faster, but a crash empties them, and replicas do not have them'
  list.add(
    unlogged.length > 0,
    'unlogged',
    'note',
    `${unlogged.join(', ')}: unlogged`,
    empties,
    'migrate({ unlogged: false }) if that matters',
  )
  if (missing.length === 0 && names((row) => row['readable'] !== true).length === 0) await addFunctions(list, query)
  return !missing.includes('sluice_state') && !missing.includes('sluice_plan') && closed.length === 0
}

async function addFunctions(list: FindingList, query: Query): Promise<void> {
  const [row] = await query(
    `select count(*) as known, count(*) filter (where to_regproc(name) is null) as gone,
      count(*) filter (where sha256 is null and installed_at < now() - interval '30 days') as old,
      count(distinct split_part(name, '_', 2)) filter (where sha256 is null) as kinds, count(*) filter (where sha256 is null) as versioned
    from sluice_functions`,
  )
  const [known, gone] = [Number(row?.['known']), Number(row?.['gone'])]
  const lost = `${gone} of ${known} functions that were installed are gone`
  list.add(gone > 0, 'functions', 'error', lost, 'calls fail as setup', 'sluice migrate --store URL with the version that you run')
  const several = Number(row?.['versioned']) > Number(row?.['kinds']) && Number(row?.['old']) > 0
  const versions = 'functions of other versions are installed, for more than 30 days'
  list.add(
    several,
    'old-functions',
    'note',
    versions,
    'they cost nothing, but only processes of those versions call them',
    'sluice migrate --prune',
  )
}

/** From a sample of pages if there are many rows. The names of limits are not in the database. */
async function countRows(query: Query, { maxKeys }: AuditRequest) {
  const [size] = await query(
    `select pg_relation_size('sluice_state') / 8192 as pages,
      pg_total_relation_size('sluice_state') + pg_total_relation_size('sluice_log') as bytes`,
  )
  const pages = Number(size?.['pages'])
  const percent = Math.min(100, (100 * maxKeys) / PAGE_ROWS / Math.max(1, pages))
  const sample = percent === 100 ? '' : `tablesample system (${percent.toFixed(6)})`
  const rows = await query(
    `select s.kind, s.plan_id, p.burst, count(*) as keys from sluice_state s ${sample} left join sluice_plan p using (plan_id)
    group by 1, 2, 3 order by 4 desc limit 1000`,
  )
  const at = rows.reduce((sum, row) => sum + Number(row['keys']), 0)
  const of = Math.round((at * 100) / percent)
  const each = of === 0 ? 0 : Number(size?.['bytes']) / of
  const limits = rows.map((row): LimitUse => {
    const keys = Math.round((Number(row['keys']) * 100) / percent)
    return { ...limitOf(row), keys, bytes: Math.round(keys * each) }
  })
  return { limits, looked: { at, of } }
}

function limitOf({ kind, plan_id: plan, burst }: Row): Pick<LimitUse, 'limit' | 'algorithm'> {
  if (kind === null) return { limit: '(blocks alone)', algorithm: '' }
  const algorithm = KINDS[Number(kind)] ?? KINDS.at(-1) ?? ''
  if (Number(kind) === 0) return { limit: `burst ${burst === null ? 'unknown' : Number(burst) / 1e6}`, algorithm }
  return { limit: Number(kind) <= 3 ? `window ${Number(plan) / 1e6} s` : '', algorithm }
}
