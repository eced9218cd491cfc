import { memoryStore } from 'sluice'
import { createEngine, type Explanation, type RuleExplanation } from 'sluice/policy'
import { wrongValue } from '../cli/failure.ts'
import { addressOf } from '../http/site-guard.ts'
import { createIdentities } from '../identity/identities.ts'
import { limitText } from '../policy/limit-text.ts'
import { POLICY_FLAGS, policyPlace } from '../policy/policy-place.ts'
import { regionFacts, regionsText } from '../policy/region-facts.ts'
import { JSON_FLAG, type ParsedArguments, print, type Verb } from '../cli/verb.ts'
import { keyText, sampleText } from './check.ts'

export const explainVerb: Verb = {
  name: 'explain',
  words: ['POLICY'],
  does: 'says what a policy does with one request: which rules match, with which key, limit and cost, and why others do not; calls no store',
  flags: {
    'path PATH': 'the request target, with or without a query; needed',
    'method METHOD': 'default GET',
    'header NAME:VALUE...': 'a header of the request',
    'query NAME=VALUE...': 'a parameter of the query',
    'claim NAME=VALUE...': 'a claim of a token that was verified',
    'ip ADDRESS': 'the address of the peer; forwarding headers count where the policy trusts it',
    'cost N': 'what the caller says it costs, instead of what the rules say',
    ...POLICY_FLAGS,
    json: JSON_FLAG,
  },
  examples: ['explain policy.yaml --method POST --path /api/data --header x-api-key:abc --ip 203.0.113.9'],
  async run(args, io) {
    const place = policyPlace(args.words[0] as string, args)
    const { policy } = await place.read({ pipes: true })
    const facts = factsOf(args)
    const { claims, pseudonym } = await createIdentities(place.file, policy, (result) => {
      if (result !== 'accepted') io.err(`sluice: explain: the token is ignored: ${result}\n`)
    })
    await using engine = createEngine({ policy, store: memoryStore(), claims, pseudonym })
    const explanation = await engine.explain(facts)
    const regions = policy.regions && regionFacts(policy.regions)
    const shares =
      regions === undefined
        ? []
        : [
            regions.mode === 'counters'
              ? `  each region grants whole token buckets: ${regionsText(regions)}`
              : `  each region decides by its part: ${regionsText(regions)}`,
          ]
    print(io, args, { ...explanation, regions }, () => [...textOf(explanation), ...shares])
  },
}

function factsOf(args: ParsedArguments) {
  const path = args.text('path')
  if (path?.startsWith('/') !== true) throw wrongValue(`explain: ${args.called('path')}`, path, 'a path that begins with /')
  const ip = args.text('ip')
  if (ip !== undefined && addressOf(ip) === undefined)
    throw wrongValue(`explain: ${args.called('ip')}`, ip, 'an address such as 203.0.113.9 or 2001:db8::1')
  const cost = args.text('cost')
  if (cost !== undefined && (!/^\d+(?:\.\d{1,6})?$/.test(cost) || Number(cost) === 0))
    throw wrongValue(`explain: ${args.called('cost')}`, cost, 'a number above 0 with at most six decimals')
  const query = args.texts('query').map((pair) => pairOf(args.called('query'), pair, '=').map(encodeURIComponent).join('='))
  const claims = Object.fromEntries(args.texts('claim').map((pair) => pairOf(args.called('claim'), pair, '=')))
  return {
    method: args.text('method') ?? 'GET',
    path: [path, ...query].reduce((target, pair) => `${target}${target.includes('?') ? '&' : '?'}${pair}`),
    headers: headersOf(args),
    ...(ip === undefined ? {} : { ip }),
    ...(cost === undefined ? {} : { cost: Number(cost) }),
    ...(args.texts('claim').length === 0 ? {} : { claims }),
  }
}

function headersOf(args: ParsedArguments): Record<string, string[]> {
  const headers = new Map<string, string[]>()
  for (const text of args.texts('header')) {
    const [name, value] = pairOf(args.called('header'), text, ':')
    const lower = name.trim().toLowerCase()
    headers.set(lower, [...(headers.get(lower) ?? []), value.trim()])
  }
  return Object.fromEntries(headers)
}

function pairOf(called: string, text: string, by: string): [string, string] {
  const at = text.indexOf(by)
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)]
  throw wrongValue(`explain: ${called}`, text, `NAME${by}VALUE`)
}

function textOf(explanation: Explanation): string[] {
  const { method, path, host, address = 'an unknown address', rules } = explanation
  const { readings, unreadable, exempt, refusedBy } = explanation
  const matching = rules.filter(({ matches }) => matches)
  const head = `${method} ${path}${host === undefined ? '' : ` at ${host}`} from ${address}`
  const several = readings === undefined ? [] : [`  an upstream may read the path as ${readings.join(' or ')}`]
  if (unreadable !== undefined) several.push(`  ${unreadable}`)
  if (exempt !== undefined) return [`${head}: no rule applies: exempt by ${exempt}`, ...several]
  if (refusedBy !== undefined) return [`${head}: refused with 400, for ${refusedBy} reads a value that cannot be read`, ...several]
  return [`${head}: ${matching.length} of ${rules.length} rules match`, ...several, ...rules.flatMap(ruleText)]
}

function ruleText(rule: RuleExplanation): string[] {
  const { name, mode, why, key = [], tier = '', overridden, sample, limit, cost, impossible } = rule
  if (limit === undefined) return [`  ${name}: does not match: ${why ?? 'no reason is known'}`]
  const shown = (value: string | null): string => (value === null ? 'is absent' : `= ${JSON.stringify(value)}`)
  const values = key.map(({ source, value }) => `${source} ${shown(value)}`)
  return [
    `  ${name}: matches, ${mode}${tier === '' ? '' : `, tier ${tier}`}`,
    `    key: ${keyText(values)}`,
    `    limit: ${limitText(limit)}, cost ${String(cost)}${sampleText(sample)}`,
    ...(impossible === true
      ? [`    never admitted: the cost ${String(cost)} is above the capacity ${limit.capacity}, so waiting does not help`]
      : []),
    ...(overridden === true ? ['    overridden: this key has a limit of its own'] : []),
  ]
}
