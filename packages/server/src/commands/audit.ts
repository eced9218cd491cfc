import { failed, usage } from '../cli/failure.ts'
import { wholeNumber } from '../cli/parse-arguments.ts'
import { PROGRESS_FLAG, progressOf } from '../cli/progress.ts'
import { storeFlags, storeUrlOf } from '../cli/store-flags.ts'
import { JSON_FLAG, print, type Verb } from '../cli/verb.ts'
import type { Audited, Finding, LimitUse } from '../stores/audit/report.ts'
import { prepareStore } from '../stores/open-store.ts'

const ORDER = { error: 0, warning: 1, note: 2 } as const
/** The most limits that the text shows; the JSON contains all. */
const SHOWN = 20
/**
 * Opening the folder of `pglite:DIR` would start a second PostgreSQL, whose recovery writes to the log (WAL): later writes of a running
 * service would be lost.
 */
const PGLITE_REFUSED =
  'audit: a folder of pglite: cannot be read without being opened for writing, which damages the data of a service that uses it; stop the service and use inspect, or audit a PostgreSQL server'

export const auditVerb: Verb = {
  name: 'audit',
  words: [],
  does: 'what is wrong or doubtful about the server of a store, and which limits fill it; only reads, and names no caller and no password',
  flags: {
    ...storeFlags('redis://..., redis+cluster://..., redis+sentinel://... or postgres://...; needed'),
    'max-keys N': 'keys or rows to look at, default 100000; above it counts are estimates from a sample',
    'prefix TEXT': "the prefix of the store's keys in Redis, default sluice:",
    progress: PROGRESS_FLAG,
    json: JSON_FLAG,
  },
  examples: ['audit --store redis://127.0.0.1:6379', 'audit --store-file store-url --json'],
  async run(args, io) {
    const url = storeUrlOf('audit', args, io)
    if (url === undefined) throw usage('audit: --store is missing: which store is to be looked at?')
    if (url.startsWith('pglite:')) throw usage(PGLITE_REFUSED)
    const prefix = args.text('prefix') ?? 'sluice:'
    if (!/^[!-z|~]+$/.test(prefix))
      throw usage(`audit: ${args.called('prefix')} is not a prefix: expected printable ASCII, no braces or blanks`)
    const maxKeys = wholeNumber(args, 'max-keys', 100_000, 1, 1e9)
    const { opened, failureOf } = await prepareStore(url, {})
    const progress = progressOf('audit', args, io)
    try {
      const { audit, name } = opened
      if (audit === undefined) throw usage(`audit: ${name} is inside one process and has no server; expected redis:// or postgres://`)
      const show = (done: number, total: number): void => progress.show(`${done} of about ${total} keys`)
      const audited = await audit({ maxKeys, prefix, progress: show }).catch((error: unknown) => {
        throw error instanceof TypeError ? error : failureOf(error)
      })
      progress.end()
      const findings = audited.findings.toSorted((a, b) => ORDER[a.severity] - ORDER[b.severity])
      const errors = findings.filter(({ severity }) => severity === 'error').length
      const result = { store: name, ok: errors === 0, ...audited, findings }
      print(io, args, result, () => textOf(result))
      if (errors > 0) throw failed(`audit: ${errors === 1 ? 'one error was' : `${errors} errors were`} found`)
    } finally {
      progress.end()
      await opened.close()
    }
  },
}

function textOf({ store, server, findings, limits, looked }: Audited & { readonly store: string }): string[] {
  const facts = Object.entries(server).map(([name, value]) => `${name} ${value === '' ? '""' : String(value)}`)
  const about =
    looked.at < looked.of ? `${looked.at} of about ${looked.of} keys were looked at, so these are estimates` : `${looked.at} keys`
  return [
    `${store}: ${findings.length === 0 ? 'nothing is wrong' : `${findings.length} findings`}`,
    `  server: ${facts.join(', ')}`,
    ...findings.flatMap(findingText),
    ...(limits.length === 0 ? [`no keys of limits (${about})`] : [`keys of limits (${about}):`, ...table(limits.slice(0, SHOWN))]),
    ...(limits.length > SHOWN ? [`  and ${limits.length - SHOWN} more limits; --json lists them`] : []),
  ]
}

function findingText({ id, severity, what, why, fix }: Finding): string[] {
  return [`${severity} ${id}: ${what}`, `  why: ${why}`, `  do: ${fix}`]
}

function table(limits: readonly LimitUse[]): string[] {
  const cells = limits.map(({ limit, algorithm, keys, bytes, withoutExpiry }) => [
    limit,
    algorithm,
    String(keys),
    bytes === undefined ? '' : String(bytes),
    withoutExpiry === undefined ? '' : String(withoutExpiry),
  ])
  const rows = [['limit', 'algorithm', 'keys', 'bytes', 'without expiry'], ...cells]
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => (row[column] as string).length)))
  const aligned = (cell: string, column: number): string => {
    const width = widths[column] as number
    return column < 2 ? cell.padEnd(width) : cell.padStart(width)
  }
  return rows.map((row) => `  ${row.map(aligned).join('  ')}`.trimEnd())
}
