import { MICRO } from '../../algorithms/decimal.ts'
import { DIGITS, encodePart, shortDigest, unescapeText } from '../../stores/region-port.ts'
import { StoreFailure } from '../../stores/store.ts'
import type { RegionalLimit } from '../rights/limit.ts'
import type { Region } from '../rights/roster.ts'
import type { Received, RegionStore, Rows, Run, Sent } from '../rights/state.ts'

/** The rows of a cell, as a server keeps them: which units of a key were sent to each region and received from it. */
export interface StoredRows {
  /** Identifies the run (life) of the server in which the rows were written: the first 48 bits of the digest of the run's name. */
  readonly run: string
  /** The limit by which the key was last used: called, or its units sent or received. */
  readonly policy: string
  readonly rows: Rows
}

export function storedRows({ run }: RegionStore, { policy }: RegionalLimit, rows: Rows): StoredRows {
  return { run: digestOf(run), policy, rows }
}

/** Whether rows count in a region. Rows that were written in another run (an earlier life) of the server do not. */
export function isOfRun({ run }: StoredRows, region: RegionStore): boolean {
  return run === digestOf(region.run)
}

/**
 * Encodes rows (what was sent and received of a key) as ASCII text. The text has no field names, to be short: a server has one such text
 * for each key of which units were sent or received. The text has the run, the era, the weight (with `!` if the cell is not divided) and
 * the limit. Then follow, for each peer, its name; after `>` what was sent to it (units, tokens; `base` if it is above 0; the limit if it
 * differs); and after `<` what was received from it (units, tokens). The digits of numbers are those of base64url.
 */
export function encodeRows({ run, policy, rows }: StoredRows): string {
  const { era, weight, whole, sent, received } = rows
  let text = `${run} ${digits(era)} ${digits(weight)}${whole === true ? '!' : ''} ${policyDigits(policy)}`
  for (const peer of new Set([...sent.keys(), ...received.keys()])) {
    const [to, from] = [sent.get(peer), received.get(peer)]
    text += ` ${encodePart(peer)}`
    if (to !== undefined) text += `>${sentDigits(to, policy)}`
    if (from !== undefined) text += `<${digits(from.units)},${digits(from.tokens)}`
  }
  return text
}

const LIMIT = '[\\w-]+/[\\w-]+/~?[\\w-]+'
const HEAD = new RegExp(`^([\\w-]{8}) ([\\w-]+) ([\\w-]+)(!?) (${LIMIT})$`)
const PEER = new RegExp(`^([^<>]+)(?:>([\\w-]+),([\\w-]+)(?:,([\\w-]+)(?:,(${LIMIT}))?)?)?(?:<([\\w-]+),([\\w-]+))?$`)
const HEAD_PARTS = 4

/**
 * @param text a result of `encodeRows`
 * @throws StoreFailure for any other text. Such a text must not count as no rows, because the region would then hold units that it has sent
 */
export function decodeRows(text: string): StoredRows {
  const parts = text.split(' ')
  const [, run, era, weight, whole, policy] = HEAD.exec(parts.slice(0, HEAD_PARTS).join(' ')) ?? unknownForm()
  const own = policyOf(policy as string)
  const sent = new Map<Region, Sent>()
  const received = new Map<Region, Received>()
  for (const part of parts.slice(HEAD_PARTS)) {
    const [, name, units, tokens, base, other, unitsFrom, tokensFrom] = PEER.exec(part) ?? unknownForm()
    const peer = unescapeText(name as string)
    if (units !== undefined) {
      const limit = other === undefined ? own : policyOf(other)
      sent.set(peer, { units: numberOf(units), tokens: numberOf(tokens), policy: limit, base: base === undefined ? 0 : numberOf(base) })
    }
    if (unitsFrom !== undefined) received.set(peer, { units: numberOf(unitsFrom), tokens: numberOf(tokensFrom) })
  }
  const rows = { era: numberOf(era), weight: numberOf(weight), sent, received, ...(whole === '' ? {} : { whole: true as const }) }
  return { run: run as string, policy: own, rows }
}

function sentDigits({ units, tokens, policy, base }: Sent, own: string): string {
  const all = [units, tokens, ...(base > 0 || policy !== own ? [base] : [])].map(digits)
  return [...all, ...(policy === own ? [] : [policyDigits(policy)])].join()
}

function digits(number: number): string {
  const rest = Math.floor(number / DIGITS.length)
  return (rest === 0 ? '' : digits(rest)) + (DIGITS[number % DIGITS.length] as string)
}

function numberOf(text: string | undefined): number {
  let number = 0
  for (const digit of text as string) number = number * DIGITS.length + DIGITS.indexOf(digit)
  return Number.isSafeInteger(number) ? number : unknownForm()
}

/**
 * The numbers of a limit: n, m, and the burst in tokens. If the burst is not a whole number of tokens, it is written in micro-tokens after
 * `~`.
 */
function policyDigits(policy: string): string {
  const [n = 0, m = 0, burst = 0] = policy.split('/').map(Number)
  const isWhole = burst % MICRO === 0
  return `${digits(n)}/${digits(m)}/${isWhole ? '' : '~'}${digits(isWhole ? burst / MICRO : burst)}`
}

function policyOf(text: string): string {
  const [n, m, burst = ''] = text.split('/')
  const micro = burst.startsWith('~') ? numberOf(burst.slice(1)) : numberOf(burst) * MICRO
  return [numberOf(n), numberOf(m), micro].join('/')
}

function unknownForm(): never {
  throw new StoreFailure('setup', 'no', 'regions: the store has rows of a form that this version does not know')
}

/**
 * The name of the run (life of the server) that was digested last, and its digest. Cached because all rows that a process reads are of one
 * run.
 */
let [lastRun, lastDigest] = ['', '']

function digestOf(run: Run): string {
  if (run !== lastRun) lastDigest = shortDigest(run).slice(0, 8)
  lastRun = run
  return lastDigest
}
