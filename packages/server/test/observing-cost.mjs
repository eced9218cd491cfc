// Measures how much processor time observers add to a decision: the time of `engine.decide` on the memory store, with different observers.
//
//   node packages/server/test/observing-cost.mjs [groups] [rounds]      after `npm run build`; a quiet machine makes the quartiles narrower
//
// Each way (see WAYS) runs in a process of its own, with one engine and its observers, as in a program. A process compiles code for what it
// has seen, so ways in one process would influence each other. A group is one process of each way. The processes take turns in short
// rounds, forward and backward, so other work on the machine affects all of them. A round is only compared with the same round without
// observers. Groups differ by chance, such as by where code and heap lie. So the result is the median over groups, with quartiles.
import { fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { memoryStore } from 'sluice'
import { prometheusMetrics } from 'sluice/observe'
import { createEngine, parsePolicy } from 'sluice/policy'
import { openDecisionLog } from '../dist/logs/decision-log.js'
import { followStore } from '../dist/stores/store-health.js'

const [GROUPS, ROUNDS, WARM] = [10, 40, 40]
/**
 * What observes the decisions. An observer that does nothing shows the least cost: reading the clock, and making the events. The further
 * ways are those of the service, each with more than the one before.
 */
const WAYS = [
  'nothing',
  'an observer that does nothing',
  'metrics',
  'metrics and state lines',
  'the same, a decision log of 1 in 100',
  'the same, a decision log of all',
]
const IDLE = { onDecision: () => {}, onStoreCall: () => {} }
const demo = fileURLToPath(new URL('../policies/rate-limiting-at-scale.yaml', import.meta.url))
const HEADERS = {
  host: '127.0.0.1:8080',
  connection: 'keep-alive',
  accept: '*/*',
  'user-agent': 'node',
  'accept-encoding': 'gzip, deflate',
}
/** The requests of one round. Each round has clients that no earlier round had. */
const LOADS = {
  // The flood of block-rate.long.test.ts: two thirds are refused.
  'the flood of the demo (three rules)': {
    policy: readFileSync(demo, 'utf8'),
    requests: (client) =>
      Array.from({ length: 540 }, (_, nth) => ({
        path: ['/api/search', '/api/data', '/elsewhere'][nth % 3],
        ip: client(Math.floor(nth / 180)),
      })),
  },
  // The cheapest decision of a policy. So observers add the largest share to its time.
  'one rule, all allowed': {
    policy: 'version: 1\nrules: [{ name: client, match: { path: /api/** }, key: ["ip:address"], rate: 10/s, burst: 20 }]\n',
    requests: (client) => Array.from({ length: 540 }, (_, nth) => ({ path: '/api/data', ip: client(Math.floor(nth / 18)) })),
  },
}

async function child(way, load) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cost-'))
  const log = await openDecisionLog(way < 4 ? undefined : { target: join(folder, 'log'), sample: way === 4 ? 100 : 1 }, () => {})
  const lines = way < 3 ? [] : [followStore('redis://x', () => {}).observer]
  const observers = [...(way < 1 ? [] : [way < 2 ? IDLE : prometheusMetrics()]), ...lines, ...log.observers]
  const { policy, requests } = LOADS[load]
  const engine = createEngine({ policy: parsePolicy(policy), store: memoryStore(), observers })
  let [clients, refused] = [0, 0]
  const obey = async (message) => {
    if (message === 'end') {
      await log.close()
      rmSync(folder, { recursive: true })
      return process.disconnect()
    }
    const client = (nth) => `10.${((clients + nth) >> 16) & 255}.${((clients + nth) >> 8) & 255}.${(clients + nth) & 255}`
    const round = requests(client).map((facts) => ({ method: 'GET', headers: HEADERS, ...facts }))
    clients += 30
    refused = 0
    const before = process.cpuUsage()
    for (const facts of round) if (!(await engine.decide(facts)).allowed) refused += 1
    const { user, system } = process.cpuUsage(before)
    process.send({ us: (user + system) / round.length, refused: refused / round.length })
  }
  process.on('message', (message) => void obey(message))
  process.send('ready')
}

/** Returns the medians of one group: the time of each way, and its ratio to the same rounds without observers. */
async function group(load, rounds) {
  const ways = WAYS.map((_, way) => fork(fileURLToPath(import.meta.url), ['child', String(way), load]))
  const answer = (process) => new Promise((resolve) => process.once('message', resolve))
  await Promise.all(ways.map(answer))
  const times = WAYS.map(() => [])
  let share = 0
  for (let round = 0; round < WARM + rounds; round += 1) {
    const order = round % 2 === 0 ? [...ways.keys()] : [...ways.keys()].reverse()
    for (const way of order) {
      const reply = answer(ways[way])
      ways[way].send('round')
      const { us, refused } = await reply
      if (round < WARM) continue
      times[way].push(us)
      share += refused / (rounds * ways.length)
    }
  }
  for (const process of ways) process.send('end')
  return {
    share,
    us: times.map((all) => quantile(all, 0.5)),
    ratio: times.map((all) =>
      quantile(
        all.map((us, at) => us / times[0][at]),
        0.5,
      ),
    ),
  }
}

function quantile(values, share) {
  const all = values.toSorted((one, other) => one - other)
  const at = (all.length - 1) * share
  const below = all[Math.floor(at)]
  return below + (all[Math.ceil(at)] - below) * (at % 1)
}

const [first, ...rest] = process.argv.slice(2)
if (first === 'child') await child(Number(rest[0]), rest[1])
else {
  const [groups, rounds] = [Number(first ?? GROUPS), Number(rest[0] ?? ROUNDS)]
  for (const load of Object.keys(LOADS)) {
    const found = []
    for (let nth = 0; nth < groups; nth += 1) found.push(await group(load, rounds))
    const share = quantile(
      found.map((one) => one.share),
      0.5,
    )
    console.log(`${load}; ${(100 * share).toFixed(0)} % refused; median [quartiles] of ${groups} groups of ${rounds} rounds`)
    for (const [way, name] of WAYS.entries()) {
      const percent = [0.5, 0.25, 0.75].map((at) =>
        (
          100 *
          (quantile(
            found.map(({ ratio }) => ratio[way]),
            at,
          ) -
            1)
        )
          .toFixed(1)
          .padStart(5),
      )
      const us = quantile(
        found.map((one) => one.us[way]),
        0.5,
      )
      console.log(`${us.toFixed(2).padStart(7)} us  ${percent[0]} % [${percent[1]}, ${percent[2]}]  ${name}`)
    }
  }
}
