import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { documentedBlocks, outdatedDocuments, withFigures, writeFigures } from '../src/documents.ts'
import { HOT_LOAD, peerReadingName } from '../src/redis/peer-names.ts'
import type { SuiteResults } from '../src/result/suite-result.ts'
import type { Row, Table } from '../src/result/table.ts'
import { VIEWS } from '../src/render/views.ts'
import { PUBLISHED, readResults } from '../src/results.ts'
import { SUITES } from '../src/suites/index.ts'
import { partOf } from './part-results.ts'
import { folder } from './run-bench.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const TABLE: Table = {
  name: 'lanes',
  title: 'all ways',
  columns: [{ key: 'time', title: 'a request', unit: 'us' }],
  rows: [
    { name: 'Sluice', kind: 'ours', cells: { time: { low: 1, median: 2, high: 3 } }, overGrant: 0 },
    { name: 'wrong', kind: 'peer', cells: { time: 1 }, overGrant: 12.5, disturbed: 'steal 9 %' },
    { name: 'unknown', kind: 'peer', cells: {}, overGrant: { notAudited: 'it has no clock' } },
  ],
}
const SUITE: SuiteResults = { format: 1, suite: 'redis', title: 'Redis', parts: [{ ...partOf('hot'), tables: [TABLE] }] }
const TABLE_LINES = [
  'all ways:',
  '',
  '| way | a request (us) | over-grant |  |',
  '|---|---|---|---|',
  '| Sluice | 2.00 (1.00 .. 3.00) | 0.00 % |  |',
  '| wrong | 1.00 | 12.50 % | WRONG; disturbed: steal 9 % |',
  '| unknown |  | not audited |  |',
  '',
  'Over-grant was not measured in the rows marked `not audited` (it has no clock): `unknown`.',
]
const NEW = [
  '<!-- bench: redis hot lanes -->',
  '',
  '`npm run bench -- redis --only hot`, 2026-01-02, 2 s a comparison; 2 cores (Example), 8.0 GiB; load 0.50 at the start;',
  'node 20.19.0; Redis 7.0.15, private, on the loopback address:',
  '',
  ...TABLE_LINES,
  '',
  '<!-- /bench -->',
].join('\n')
const OLD = '<!-- bench: redis hot lanes -->\n\nolder\n\n<!-- /bench -->'
const OTHER = '<!-- bench: redis different -->\n<!-- /bench -->'

describe('figures in documents', () => {
  it('replaces the blocks of what was measured, as often as they are there, and nothing else', () => {
    const text = ['# Title', OLD, OTHER, '<!-- bench: open hot -->\nkept\n<!-- /bench -->', OLD, 'end'].join('\n\n')
    const written = ['# Title', NEW, OTHER, '<!-- bench: open hot -->\nkept\n<!-- /bench -->', NEW, 'end'].join('\n\n')
    expect(withFigures(text, [SUITE])).toBe(written)
    expect(withFigures(written, [SUITE])).toBe(written)
  })

  it('shows all tables of a part whose block names none', () => {
    const block = '<!-- bench: redis hot -->\n<!-- /bench -->'
    expect(withFigures(block, [SUITE])).toContain(TABLE_LINES.join('\n'))
  })

  it('shows README’s proofs from several suites, and leaves them as they are while one is missing', () => {
    const block = '<!-- bench: view proofs -->\nearlier\n<!-- /bench -->'
    const row = (name: string, allowed: number): Row => ({ name, kind: 'peer', cells: { allowed, nominal: 40 }, overGrant: 0 })
    const columns: Table['columns'] = []
    const test: Table = { name: 'over-grant', title: '', columns, rows: [row('Sluice', 40), row('multi-command', 1_045)] }
    const exact: SuiteResults = { format: 1, suite: 'seed-003', title: '', parts: [{ ...partOf('over-grant'), tables: [test] }] }
    const reading = (name: string, value: number) => {
      return { name, value, unit: 'x', mark: 'reported', processor: { low: 2, median: 2.5, high: 3 } } as const
    }
    const peers = ['Lua EVALSHA', 'rate-limiter-flexible'].map((name, index) =>
      reading(peerReadingName('Sluice', name, HOT_LOAD), [1.78, 1.86][index] as number),
    )
    const fast = (alone: number): SuiteResults => ({
      ...SUITE,
      parts: [
        { ...partOf('peers'), readings: peers },
        { ...partOf('one-caller'), readings: [reading('Sluice', alone)] },
      ],
    })
    expect(withFigures(block, [exact])).toBe(block)
    const shown = withFigures(block, [exact, fast(1.34)])
    expect(shown).toContain('at most 40 may pass: Sluice let 40 pass, a limiter that reads and then writes 1,045 |')
    expect(shown).toContain('1.8 x the decisions per second of one EVALSHA a call, 1.9 x those of rate-limiter-flexible, with 0.40 x the')
    expect(shown).toContain('A single caller loses: 1.3 x the time of a bare EVALSHA. There')
    const renamed = { ...fast(1), parts: [{ ...partOf('peers'), readings: [reading('otherwise', 1)] }, partOf('one-caller')] }
    expect(() => withFigures(block, [exact, renamed])).toThrow('need a figure')
    expect(withFigures(block, [exact, fast(0.9)])).toContain('A single caller wins: 0.90 x the time')
    expect(shown).toContain('There no other way is clearly faster |')
    const [redis] = [fast(0.79)]
    const [others, alone] = redis.parts.map(({ readings: of }) => of)
    const disturbed = alone?.map((one) => ({ ...one, spread: { low: 0.68, median: 0.79, high: 1.14 } })) as typeof peers
    const way = (name: string, kind: 'ours' | 'peer', time: number, load: string): Row => {
      return { name, kind, load, overGrant: 0, cells: { time: { low: time - 1, median: time, high: time + 1 } } }
    }
    const rows = [
      way('Sluice', 'ours', 30, 'a'),
      way('peer', 'peer', 20, 'a'),
      way('Sluice', 'ours', 90, 'b'),
      way('peer', 'peer', 30, 'b'),
    ]
    const lost: Table = { ...TABLE, rows, rank: { column: 'time', best: 'least' } }
    const parts = [
      { ...partOf('peers'), readings: others ?? [], tables: [lost] },
      { ...partOf('one-caller'), readings: disturbed },
    ]
    expect(withFigures(block, [exact, { ...redis, parts }])).toContain(
      'A single caller, no clear difference: 0.79 x the time of a bare EVALSHA. Its largest loss there, b: 90.00 µs (a request), peer 30.00 µs |',
    )
  })

  it('shows every goal that was missed, with its floor and the ways that are better there', () => {
    const spread = (median: number) => ({ low: median - 1, median, high: median + 1 })
    const rows: Row[] = [
      { name: 'Sluice', kind: 'ours', cells: { time: spread(9) }, overGrant: 0 },
      { name: 'peer', kind: 'peer', cells: { time: spread(4) }, overGrant: 0 },
    ]
    const goal = { atLeast: 2 }
    const readings = [
      { name: 'missed', value: 1.5, unit: 'x', goal, spread: spread(1.5), floor: { value: 3, what: 'PING' }, mark: 'missed' },
      { name: 'too low', value: 0.5, unit: 'x', goal, spread: { low: 0.4, median: 0.5, high: 0.6 }, baseline: 'peer 4 us', mark: 'floor' },
      { name: 'fine', value: 2, unit: 'x', goal, mark: 'reached' },
      { name: 'none', absent: 'no server', goal, mark: 'absent' },
    ] as const
    const part = { ...partOf('hot'), readings, tables: [{ ...TABLE, rows, rank: { column: 'time', best: 'least' } as const }] }
    const shown = withFigures('<!-- bench: view misses -->\n<!-- /bench -->', [{ ...SUITE, parts: [part] }])
    expect(shown.split('\n').filter((line) => line.startsWith('| `'))).toEqual([
      '| `redis hot` | missed | >= 2 | 1.50 x | 0.50 .. 2.50 | MISSED |  | 3.00 x: PING | peer, 4.00 µs |',
      '| `redis hot` | too low | >= 2 | 0.50 x | 0.40 .. 0.60 | below the floor | peer 4 us | not measured | peer 4 us; peer, 4.00 µs |',
    ])
  })

  it('shows the notes of a part: why it was not run', () => {
    const part = { ...partOf('yugabyte'), notes: ['Not run: it has no URL.'] }
    const shown = withFigures('<!-- bench: redis yugabyte -->\n<!-- /bench -->', [{ ...SUITE, parts: [part] }])
    expect(shown).toContain('\n\n- Not run: it has no URL.\n\n<!-- /bench -->')
  })

  it('lists the rankings in which ours is clearly worse, and only these', () => {
    const spread = (low: number) => ({ low, median: low + 0.5, high: low + 1 })
    const row = (name: string, kind: 'ours' | 'peer', low: number, load: string): Row => ({
      name,
      kind,
      load,
      cells: { time: spread(low) },
      overGrant: 0,
    })
    const rows = [
      row('Sluice', 'ours', 5, 'hot'),
      row('peer', 'peer', 2, 'hot'),
      row('Sluice', 'ours', 5, 'cold'),
      row('peer', 'peer', 4.5, 'cold'),
    ]
    const ranked: Table = { ...TABLE, rows, rank: { column: 'time', best: 'least' } }
    const block = '<!-- bench: view losses -->\n<!-- /bench -->'
    const shown = withFigures(block, [{ ...SUITE, parts: [{ ...partOf('hot'), tables: [ranked] }] }])
    expect(shown).toContain('| `redis` | hot, hot | Sluice: 5.50')
    expect(shown).toContain('| 2.2 x |')
    expect(shown).not.toContain('cold')
  })

  it('leaves a block that does not end, and one of an unknown table, as it is', () => {
    for (const block of ['<!-- bench: redis hot -->\n\nold\n', '<!-- bench: redis hot none -->\nold\n<!-- /bench -->'])
      expect(withFigures(block, [SUITE])).toBe(block)
  })

  it('writes the files that changed and names them; what was built or installed is not looked at', () => {
    const root = folder()
    for (const path of ['docs', 'node_modules', 'docs/dist']) mkdirSync(join(root, path), { recursive: true })
    for (const path of ['docs/a.md', 'node_modules/b.md', 'docs/dist/c.md', 'docs/d.txt']) writeFileSync(join(root, path), OLD)
    writeFileSync(join(root, 'README.md'), NEW)
    expect(outdatedDocuments(root, [SUITE])).toEqual([join('docs', 'a.md')])
    expect(writeFigures(root, [SUITE])).toEqual([join('docs', 'a.md')])
    expect(readFileSync(join(root, 'docs/a.md'), 'utf8')).toBe(NEW)
    expect(readFileSync(join(root, 'node_modules/b.md'), 'utf8')).toBe(OLD)
    expect(outdatedDocuments(root, [SUITE])).toEqual([])
  })

  it('every block of the repository names a part that a suite has, and shows the committed results', () => {
    const parts = new Map([
      ...SUITES.map(({ name, parts: all }) => [name, all.map((part) => part.name)] as const),
      ['view', [...VIEWS.keys()]],
    ])
    const found = documentedBlocks(ROOT)
    expect(found.length).toBeGreaterThan(0)
    for (const { suite, part, file } of found) expect(parts.get(suite), `${file}: ${suite} ${part}`).toContain(part)
    const committed = readResults(
      join(ROOT, PUBLISHED),
      SUITES.map(({ name }) => name),
    )
    expect(outdatedDocuments(ROOT, committed)).toEqual([])
  })
})
