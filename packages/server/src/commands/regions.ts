import { failed, usage, wrongValue } from '../cli/failure.ts'
import { DEFAULT_URL, serviceCalls } from '../cli/service-calls.ts'
import { JSON_FLAG, print, type Verb } from '../cli/verb.ts'
import type { WantedEra } from '../regions/begin-era.ts'
import type { RegionStatus } from '../regions/region-status.ts'
import { CHANGES, changeWeights } from './regions/change.ts'
import { statusText } from './regions/status-text.ts'

const ACTIONS = ['status', ...CHANGES] as const

export const regionsVerb: Verb = {
  name: 'regions',
  words: ['ACTION', '[NAME]'],
  choices: ACTIONS,
  does: 'the regions that share their limits; ACTION is status, or drain, remove, add or adopt NAME, which change the weights of all',
  flags: {
    'url URL': `the service of any of the regions, default ${DEFAULT_URL}`,
    'token-file FILE': "the service's token of administration",
    'weight N': 'thousandths of every token bucket for the region of add; default as much as the others have on the average',
    'never-runs-again': 'for adopt: the store of the region is gone for good, and none that has its data will ever be started',
    json: JSON_FLAG,
  },
  examples: ['regions status --token-file ./token', 'regions drain us --url http://127.0.0.1:8081 --token-file ./token'],
  async run(args, io) {
    const [action, name] = args.words
    if (!ACTIONS.some((one) => one === action)) throw wrongValue('regions: ACTION', action, ACTIONS.join(', '))
    if (action === 'status' && name !== undefined)
      throw usage(`regions: unexpected ${JSON.stringify(name)}: status is of the whole service`)
    const service = serviceCalls(args.text('url') ?? DEFAULT_URL, args.text('token-file'), args.called('url'))
    const status = async (): Promise<RegionStatus> => {
      const answer = await service.call('GET', service.at('/v1/regions'))
      if (isStatus(answer)) return answer
      throw failed(`service ${service.name} sent no status of regions that this version understands`)
    }
    const reweigh = (wanted: WantedEra): Promise<unknown> => service.call('PUT', service.at('/v1/regions'), wanted)
    const reached = action === 'status' ? await status() : await changeWeights({ status, reweigh }, args, io)
    print(io, args, reached, () => statusText(reached))
  },
}

function isStatus(answer: unknown): answer is RegionStatus {
  const { self, weights, peers } = (answer ?? {}) as Partial<RegionStatus>
  return typeof self === 'string' && isMap(weights) && isMap(peers)
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
