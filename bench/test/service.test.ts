import { describe, expect, it } from 'vitest'
import { BITING } from '../src/http/audit.ts'
import { treeProcessor } from '../src/machine/tree-processor.ts'
import { isWrong } from '../src/result/table.ts'
import { decisionReadings, decisionTable, type Measured } from '../src/service/decision-table.ts'
import { workersTable } from '../src/service/workers.ts'
import { DENIED } from '../src/profiles.ts'
import { configOf } from '../src/service/nginx.ts'
import { proxyTable, type ProxyRow } from '../src/service/proxy-table.ts'

describe('nginx as the native reference', () => {
  it('lets burst requests through at once: its own burst is one less, and its answer is 429', () => {
    const text = configOf({ kind: 'limit_req', quota: BITING }, 8080, '/folder')
    expect(text).toContain('limit_req_zone $http_x_api_key zone=clients:10m rate=50r/s;')
    expect(text).toContain('limit_req zone=clients burst=49 nodelay; limit_req_status 429;')
  })

  it('a burst of one needs no burst option, and its slowest rate is one a minute', () => {
    const text = configOf({ kind: 'limit_req', quota: { tokens: 1, per: '1m', burst: 1 } }, 8080, '/folder')
    expect(text).toContain('rate=1r/m;')
    expect(text).toContain('limit_req zone=clients; limit_req_status 429;')
    expect(() => configOf({ kind: 'limit_req', quota: { tokens: 1, per: '1d', burst: 1 } }, 8080, '/folder')).toThrow('by the second')
  })

  it('calls the service as the example does, and has no limit otherwise', () => {
    expect(configOf({ kind: 'auth_request', port: 8081 }, 8080, '/folder')).toContain('proxy_pass http://sluice/v1/auth?denied=403;')
    expect(configOf({ kind: 'bare' }, 8080, '/folder')).not.toMatch(/limit_req|auth_request/)
  })
})

describe('the table of proxies', () => {
  const timed = (cpuMicros: number[], wrong = 0) => ({ name: 'way', cpuMicros, wallMicros: [100, 200, 400], wrong, failed: 0, total: 100 })
  const spread = { low: 1, median: 2, high: 3 }
  const first = timed([10, 20, 40])
  const row = (more: Partial<ProxyRow>): ProxyRow => ({
    name: 'way',
    kind: 'peer',
    load: 'refused',
    timed: timed([20, 40, 80]),
    first,
    latency: { perSecond: 50, p50: spread, p99: spread },
    tolerated: 1,
    grant: 0,
    ...more,
  })

  it('compares processor time within a round, and shows requests a second', () => {
    const [cells] = proxyTable([row({})]).rows.map((one) => one.cells)
    expect(cells?.['ratio']).toEqual({ low: 2, median: 2, high: 2 })
    expect(cells?.['rate']).toMatchObject({ median: 5_000 })
  })

  it('a token a minute is no wrong answer, a second one is, and so is over-grant', () => {
    const rows = proxyTable([row({ timed: timed([20, 40, 80], 1) }), row({ timed: timed([20, 40, 80], 2) }), row({ grant: 3 })]).rows
    expect(rows.map(isWrong)).toEqual([false, true, true])
  })

  it('shows no processor time where the system does not report it', () => {
    const zero = timed([0, 0, 0])
    expect(proxyTable([row({ timed: zero, first: zero })]).rows[0]?.cells).toMatchObject({ cpu: undefined, ratio: undefined })
  })
})

it.runIf(process.platform === 'linux')('the processor time of a process and its descendants never falls', () => {
  const read = treeProcessor(process.pid)
  const before = read()
  const until = performance.now() + 5
  while (performance.now() < until);
  expect(before).toBeGreaterThan(0)
  expect(read()).toBeGreaterThan(before)
})

describe('the tables of the service', () => {
  const spread = { low: 1, median: 2, high: 3 }
  const side = (wallMicros: number[], failed = 0) => ({
    timed: { name: 'server', cpuMicros: wallMicros, wallMicros, wrong: 0, failed, total: 200 },
    latency: { perSecond: 10, p50: spread, p99: spread },
  })
  const measured: Measured = {
    profile: DENIED,
    many: 100,
    wrong: 0,
    check: { ours: side([100, 100]), baseline: side([50, 50]) },
    checks: { ours: side([1_000, 1_000]), baseline: side([400, 400]) },
  }

  it('decisions: ratios to the servers that decide nothing, and of lists to single checks', () => {
    expect(decisionReadings(measured).map((reading) => 'value' in reading && reading.value)).toEqual([0.5, 0.5, 0.4, 0.4, 10])
    const { rows } = decisionTable([measured], { check: 0, checks: 2 })
    expect(rows.map(({ kind, cells }) => [kind, cells['rate']])).toEqual(
      (
        [
          ['floor', 20_000],
          ['ours', 10_000],
          ['floor', 250_000],
          ['ours', 100_000],
        ] as const
      ).map(([kind, median]) => [kind, { low: median, median, high: median }]),
    )
    expect(rows.map(isWrong)).toEqual([false, false, false, true])
  })

  it('workers: an undecided request is no wrong answer, but is shown', () => {
    const ways = [side([200, 200]), side([100, 100], 4)]
    const { rows } = workersTable(
      ways.map(({ timed }) => timed),
      ways.map(({ latency }) => latency),
      [0, 0],
    )
    expect(rows[1]?.cells).toMatchObject({ ratio: { median: 2 }, undecided: 2 })
    expect(rows.map(isWrong)).toEqual([false, false])
  })
})
