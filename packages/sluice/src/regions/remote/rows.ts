import { MICRO } from '../../algorithms/decimal.ts'
import { DIGITS, encodePart, shortDigest, unescapeText } from '../../stores/region-port.ts'
import { StoreFailure } from '../../stores/store.ts'
import type { RegionalLimit } from '../rights/limit.ts'
import type { Region } from '../rights/roster.ts'
import type { Received, RegionStore, Rows, Run, Sent } from '../rights/state.ts'

/** What was sent to each region and received from it: tokens of a key, and units (parts of the right to its limit). */
export interface StoredRows {
  /** The first 48 bits of the digest of the run's name (a run is a server lifetime). */
  readonly run: string
  /** The limit of the last call or transfer of the key. */
  readonly policy: string
  readonly rows: Rows
}

export function storedRows({ run }: RegionStore, { policy }: RegionalLimit, rows: Rows): StoredRows {
  return { run: digestOf(run), policy, rows }
}

/** Rows of an earlier run (server lifetime) do not count. */
export function isOfRun({ run }: StoredRows, region: RegionStore): boolean {
  return run === digestOf(region.run)
}

/**
 * A short ASCII text, because a server stores one for each key of which units were sent or received. It holds run, era, weight (with `!` if
 * the key is not divided) and limit. For each peer follow its name, `>` with units, tokens, `base` (see `Sent`) and limit sent, and
 * `<` with units and tokens received. Numbers have base64url digits. After `>`, the limit is left out if it is the key's. If the base is 0
 * too, both are left out.
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
 * @throws StoreFailure for any other text: if it counted as no rows, the region would keep units that it has sent
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

/** Rate n/m, and burst in tokens (in micro-tokens after `~` if not whole). */
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

/** Cached, because a process reads rows of one run. */
let [lastRun, lastDigest] = ['', '']

function digestOf(run: Run): string {
  if (run !== lastRun) lastDigest = shortDigest(run).slice(0, 8)
  lastRun = run
  return lastDigest
}
