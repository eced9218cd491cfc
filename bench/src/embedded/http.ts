import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { fileURLToPath } from 'node:url'
import { openPipeline } from '../pipeline.ts'
import { amount } from '../reading-text.ts'
import type { Goal, Reading } from '../reading.ts'
import { figure } from '../report.ts'
import { differencesOf, median } from '../statistics.ts'
import type { Part, PartOptions } from '../part.ts'
import { ALLOWED, DENIED } from './profiles.ts'
import { type ServerLane, serverRounds, type ServerTimed } from './server-rounds.ts'
import { startServer } from './server-process.ts'

const SCRIPT = fileURLToPath(new URL('http-server.js', import.meta.url))
const REQUEST = Buffer.from('GET /api/items/7 HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n')
const LOAD = { connections: 8, depth: 8 } as const
const REQUESTS = 2_000
const ROUNDS = { warmUp: 2, least: 5 } as const
/** Fields that node writes itself. */
const OWN: ReadonlySet<string> = new Set(['date', 'connection', 'keep-alive', 'content-length'])

/** What the adapter adds to a request of `node:http`. */
export const http: Part = {
  name: 'http',
  title: 'node:http with sluice/node: processor time added per request, by pairs against the bare server',
  async run(options) {
    const lane = (name: string, status: number, ...args: readonly string[]): Promise<ServerLane> => laneOf(name, status, args, options)
    const limited = await lane('default', 200)
    const fields = await fieldsOf(limited.server.port)
    const lanes = [
      await lane('bare', 200),
      limited,
      await lane('off', 200),
      await lane('denied', 429),
      await lane('fields', 200, JSON.stringify(fields)),
      await lane('async', 200),
    ]
    options.say(`${figure(REQUESTS)} requests by turns to ${lanes.map(({ name }) => name).join(', ')}`)
    const timed = await serverRounds(lanes, { ...ROUNDS, seconds: options.seconds * 2 })
    for (const { pipeline, server } of lanes) {
      pipeline.close()
      await server.stop()
    }
    const [bare, ours, off, denied, constant, async_] = timed as readonly ServerTimed[] as Servers
    const named = fields.map(([name]) => name).join(', ')
    return {
      readings: [
        reading('default headers', ALLOWED.name, ours, bare, {
          goal: { atMost: 3 },
          floor: constant,
          what: `the same ${fields.length} fields, constant, set by hand`,
        }),
        reading('headers off', ALLOWED.name, off, bare, { goal: { atMost: 1.2 }, floor: async_, what: 'an async function that says yes' }),
        reading('answered with 429', DENIED.name, denied, bare),
      ],
      notes: [
        `${LOAD.connections} kept connections, ${LOAD.depth} requests under way on each, sent by another process; ${bare.cpuMicros.length} rounds; user and system time of the server’s process, all its threads.`,
        `The default fields: ${named}.`,
      ],
    }
  },
}

/** In the order of the lanes. */
type Servers = readonly [ServerTimed, ServerTimed, ServerTimed, ServerTimed, ServerTimed, ServerTimed]

async function laneOf(kind: string, status: number, args: readonly string[], options: PartOptions): Promise<ServerLane> {
  const server = await startServer(SCRIPT, [kind, ...args], options)
  const pipeline = await openPipeline({ port: server.port, ...LOAD, requests: [REQUEST] })
  return { name: kind, server, pipeline, requests: REQUESTS, status }
}

/** What the adapter sends in addition to what node does, as it spells it. */
async function fieldsOf(port: number): Promise<[string, string][]> {
  const [response] = (await once(get({ port, host: '127.0.0.1', path: '/api/items/7' }), 'response')) as [IncomingMessage]
  response.resume()
  const { rawHeaders } = response
  const pairs = rawHeaders.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[name, rawHeaders[at + 1] as string]] : []))
  return pairs.filter(([name]) => !OWN.has(name.toLowerCase()))
}

function reading(
  name: string,
  profile: string,
  ours: ServerTimed,
  bare: ServerTimed,
  judged?: { readonly goal: Goal; readonly floor: ServerTimed; readonly what: string },
): Reading {
  const spread = differencesOf(ours.cpuMicros, bare.cpuMicros)
  const shown = (timed: ServerTimed): string => amount(median(timed.cpuMicros), 'us')
  return {
    name,
    profile,
    unit: 'us',
    value: spread.median,
    spread,
    ours: shown(ours),
    baseline: `bare ${shown(bare)}`,
    wrongAnswers: ours.wrong + bare.wrong,
    ...(judged === undefined
      ? {}
      : { goal: judged.goal, floor: { value: differencesOf(judged.floor.cpuMicros, bare.cpuMicros).median, what: judged.what } }),
  }
}
