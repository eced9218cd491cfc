import type { Replacement } from './variants.ts'

const at = (file: Replacement['file'], from: string, to: string): Replacement => ({ file, from, to })

const MERGED = 'bucket: resettle(limit, bucket, current.units, current.units + units, time, tokens),'
const TOKENS = 'row.policy === limit.policy ? Math.max(0, row.tokens - Math.max(known.tokens, row.base)) : 0'
const KNOWN = 'if (row.units <= known.units && row.tokens <= known.tokens) return undefined'
const SUMS = '{ units: Math.max(known.units, row.units), tokens: Math.max(known.tokens, row.tokens) }'
const RUNS = 'if (row.to !== store.region || row.toRun !== store.run || row.run !== store.bound.get(row.from)) return undefined'
const OPEN_ERA = "if (store.phase !== 'open' || row.era !== store.era) return undefined"
const NO_ROWS = 'if (rows === undefined || rows.era !== shift.era) return weight'
const UNITS_OF_ROWS = 'return shift.cut ? Math.min(units, weight) : units'
const LESS_SENT = 'for (const row of rows.sent.values()) units -= row.units\n'
const EMPTY = 'if (now === 0) return undefined'
const CUT = 'const units = Math.min(last.units, weightOf(coming, region))'
const FIRST_SHIFT = 'shifts: [{ era: -1, at: now, units: 0, rosters: undefined, cut: false }],'

const HOME = 'homeOf(roster, limit.hash as number) === region ? UNITS : 0'
const OTHER_ROWS = 'if (!isOfRows(rows, shift.rosters?.[0], limit)) return Math.min(units, weight)'

/** Programs that are wrong in one way each. The tests show that the audits notice each of them. */
export const WRONG = {
  'the first region to see a key owns all of it': [at('rights/cell.ts', NO_ROWS, `${NO_ROWS} > 0 ? 1000 : 0`)],
  'a full bucket is full at its new share': [
    at(
      'rights/transfer.ts',
      'import { currentCell,',
      "import { tokenBucketKernel } from '../../algorithms/token-bucket.ts'\nimport { currentCell,",
    ),
    at(
      'rights/transfer.ts',
      MERGED,
      `bucket: ((after) => {
        const adopted = tokenBucketKernel.adopt(limit.share(after), bucket, time, 0)
        return resettle(limit, adopted ?? explicitBucket({ ...current, bucket: undefined, units: after }, limit), after, after, time, tokens)
      })(current.units + units),`,
    ),
  ],
  'sums of rows are added': [
    at('rights/transfer.ts', KNOWN, ''),
    at('rights/transfer.ts', 'Math.max(0, row.units - known.units)', 'row.units'),
    at('rights/transfer.ts', TOKENS, 'row.policy === limit.policy ? row.tokens : 0'),
  ],
  'the last row that arrives is right': [
    at('rights/transfer.ts', KNOWN, 'if (row.units === known.units && row.tokens === known.tokens) return undefined'),
    at('rights/transfer.ts', SUMS, '{ units: row.units, tokens: row.tokens }'),
    at('rights/cell.ts', LESS_SENT, `${LESS_SENT}  units = Math.max(0, units)\n`),
  ],
  'a bucket is not settled at its old rate': [
    at('rights/cell.ts', 'const old = bucket.plan\n', 'const old = bucket.plan\n  time = bucket.seen\n'),
  ],
  'a key without a state is full at its new share': [
    at(
      'rights/transfer.ts',
      'const bucket = explicitBucket(current, limit)\n  const time = Math.max(current.time, bucket.seen)\n  const sums',
      'const bucket = explicitBucket({ ...current, units: current.units + units }, limit)\n  const time = Math.max(current.time, bucket.seen)\n  const sums',
    ),
  ],
  'units that were sent are kept': [at('rights/cell.ts', 'for (const row of rows.sent.values()) units -= row.units', '')],
  'tokens that were sent are kept': [at('rights/transfer.ts', 'time, -tokens),', 'time, 0),')],
  'a restored snapshot goes on': [at('rights/recovery.ts', 'stored?.run === run ? stored', 'stored !== undefined ? stored')],
  'a lost store is full at once': [
    at(
      'rights/recovery.ts',
      FIRST_SHIFT,
      'shifts: [{ era: -1, at: 0, units: roster.weights.get(region) ?? 0, rosters: [roster], cut: false }],',
    ),
  ],
  'keys of a lost store are full when its weight returns': [
    at('rights/cell.ts', EMPTY, 'if (now === 0 || shifts[0].era < 0) return undefined'),
  ],
  'keys of a lost store fill from the loss on': [
    at(
      'rights/era.ts',
      'const shifts = shiftedAt(store, { era, units: weightOf(roster, store.region), rosters: [roster], cut: false }, now)',
      `const shift = { era, units: weightOf(roster, store.region), rosters: [roster], cut: false }
  const shifts = store.shifts[0].era < 0 ? [{ ...shift, at: store.shifts[0].at }] : shiftedAt(store, shift, now)`,
    ),
  ],
  'an era opens before all have closed': [
    at('rights/era.ts', "status.era !== store.era || status.phase !== 'closed') return false", 'status.era !== store.era) return false'),
    at(
      'rights/era.ts',
      'return status.next !== undefined && isSame(status.next, next)',
      "return status.phase === 'open' || isSame(status.next, next)",
    ),
  ],
  'closing keeps what was received': [
    at(
      'rights/era.ts',
      "return { ...store, phase: 'closed', next: coming, shifts: shiftedAt(store, { era: store.era, units, rosters, cut: true }, now) }",
      "return { ...store, phase: 'closed', next: coming }",
    ),
  ],
  'closing cuts to the weight of this era only': [at('rights/era.ts', CUT, 'const { units } = last')],
  'a closed store receives units': [
    at('rights/transfer.ts', OPEN_ERA, "if (store.phase === 'learning' || row.era !== store.era) return undefined"),
    at(
      'rights/transfer.ts',
      'rows: { ...rows, received:',
      "rows: { ...rows, late: (rows.late ?? 0) + (store.phase === 'closed' ? units : 0), received:",
    ),
    at('rights/cell.ts', UNITS_OF_ROWS, 'return shift.cut ? Math.min(units - (rows.late ?? 0), weight) + (rows.late ?? 0) : units'),
  ],
  'rows of any era are received': [at('rights/transfer.ts', OPEN_ERA, "if (store.phase !== 'open') return undefined")],
  'a key without a state is full when a roster raises its share': [
    at('rights/cell.ts', EMPTY, 'if (now === 0 || shifts[0].era >= 0) return undefined'),
  ],
  'a key whose state expired after an era was full at the era': [
    at('rights/cell.ts', 'const grown = limit.share(now - base)', 'const grown = limit.share(now)'),
  ],
  'a key was full at an era, whatever the era before': [
    at('rights/cell.ts', 'const wasFull = raised !== undefined && last.at - raised.at >= fill', 'const wasFull = shifts.length > 1'),
  ],
  'rights are tokens, not units': [
    at(
      'rights/transfer.ts',
      'const next = { units: row.units + units,',
      'const next = { whole: (row.whole ?? 0) + units * limit.whole.burst, units: row.units + units,',
    ),
    at('rights/transfer.ts', `const sums = ${SUMS}`, `const sums = { whole: Math.max(known.whole ?? 0, row.whole), ...${SUMS} }`),
    at(
      'rights/cell.ts',
      'const last = lastShift(store)\n  const time',
      'const last = lastShift(store)\n  burst = limit.whole.burst\n  const time',
    ),
    at('rights/cell.ts', 'function unitsAfter(', 'let burst = 1\nfunction unitsAfter('),
    at(
      'rights/cell.ts',
      'for (const row of rows.received.values()) units += row.units',
      'for (const row of rows.received.values()) units += Math.floor(row.whole / burst)',
    ),
    at(
      'rights/cell.ts',
      'for (const row of rows.sent.values()) units -= row.units',
      'for (const row of rows.sent.values()) units -= Math.floor(row.whole / burst)\n  units = Math.max(0, units)',
    ),
  ],
  'a shift is applied at the next call': [
    at(
      'rights/cell.ts',
      ': shifted(store, cell.bucket,',
      ': shifted({ ...store, shifts: store.shifts.map((shift) => (shift.at < cell.bucket.seen ? shift : { ...shift, at: time })) }, cell.bucket,',
    ),
  ],
  'more tokens are sent than the units may have': [
    at('rights/transfer.ts', 'Math.min(level, portion(limit.whole.burst, units), most)', 'Math.min(level, most)'),
  ],
  'tokens of another limit are received, cut by their sum': [
    at('rights/transfer.ts', TOKENS, 'Math.min(Math.max(0, row.tokens - known.tokens), portion(limit.whole.burst, units))'),
  ],
  'tokens of the limit before last are received': [at('rights/transfer.ts', 'Math.max(known.tokens, row.base)', 'known.tokens')],
  'a full bucket of another limit is full by this one': [
    at(
      'rights/decide.ts',
      '>= plan.emptyBefore.micros + bucket.plan.emptyBefore.micros',
      '>= Math.max(plan.emptyBefore.micros, bucket.plan.emptyBefore.micros)',
    ),
  ],
  'states of a longer limit are forgotten early': [at('rights/cell.ts', 'Math.max(bucket.keepFor, old.emptyBefore.micros)', '0')],
  'a lost store returns in the same era': [
    at(
      'rights/recovery.ts',
      "return { ...store, phase: 'closed', era, roster: weights, next: roster, answers: new Map() }",
      `const shift = { era, at: store.shifts[0].at, units: weights.weights.get(store.region) ?? 0, rosters: [weights], cut: false }
  return { ...store, phase: 'open', era, roster: weights, next: undefined, answers: new Map(), shifts: [...store.shifts, shift] }`,
    ),
    at('rights/transfer.ts', RUNS, 'if (row.to !== store.region) return undefined'),
  ],
  'rows of any run are received': [at('rights/transfer.ts', RUNS, 'if (row.to !== store.region) return undefined')],
  'a region that is gone is passed over, whatever its run': [
    at('rights/roster.ts', 'name === region && dead === run', 'name === region && dead !== undefined'),
  ],
  'a new run passes over a region of which it knows no run': [
    at('rights/era.ts', 'if (run !== undefined && isGone(next, peer, run))', 'if ((next.gone ?? []).some(([region]) => region === peer))'),
  ],
  'rows of a run that is gone are received': [
    at('rights/transfer.ts', 'if (isGone(store.roster, row.from, row.run)) return undefined\n', ''),
  ],
  'a run that is gone begins an era': [at('rights/era.ts', ' && !isGone(next, status.from, status.run)', '')],
  'a newer roster forgets which runs are gone': [at('rights/era.ts', 'next === undefined ? wanted : keepingGone(wanted, next)', 'wanted')],
  'a region begins an era first, for which nobody waits': [
    at('rights/era.ts', 'store.roster.weights.has(store.region) && peers.every', 'peers.every'),
  ],
  'a store greets no peer that it did not know while it was learning': [at('rights/recovery.ts', ': !store.bound.has(peer)', ': false')],
  'a late hello of a dead run is applied': [at('rights/recovery.ts', ' || guest.joins !== joins) return', ') return')],
  'a cell that is not divided is whole in every region': [at('rights/undivided.ts', HOME, 'UNITS')],
  'regions differ in the home of a cell': [
    at('rights/undivided.ts', HOME, 'homeOf(roster, (limit.hash as number) + 400 * region.charCodeAt(1)) === region ? UNITS : 0'),
  ],
  'a cell is whole at its next home while an era ends': [
    at(
      'rights/cell.ts',
      'Math.min(...shift.rosters.map((roster) => firstUnits(roster, region, limit)))',
      'firstUnits(shift.rosters.at(-1), region, limit)',
    ),
  ],
  'rows of a divided cell count when it no longer is': [at('rights/cell.ts', OTHER_ROWS, '')],
  'rows of a divided cell are received when it no longer is': [
    at('rights/transfer.ts', 'isUndivided(roster, plan.burst) === isWhole(roster, limit)', 'roster !== undefined'),
  ],
  'units are sent of a cell with rows of when it was not divided': [
    at('rights/transfer.ts', 'if (!isOfRows(rows, store.roster, limit)) return undefined\n  const row = rows', 'const row = rows'),
  ],
} satisfies Record<string, readonly Replacement[]>
