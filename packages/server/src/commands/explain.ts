import { memoryStore } from 'sluice'
import { clientAddress, createEngine, type Explanation, trustProxies } from 'sluice/policy'
import { usage } from '../cli/failure.ts'
import { createIdentities } from '../identity/identities.ts'
import { readPolicy } from '../policy/read-policy.ts'
import { JSON_FLAG, type ParsedArguments, print, type Verb } from '../cli/verb.ts'
import { keyText, limitText, sampleText } from './check.ts'

export const explainVerb: Verb = {
  name: 'explain',
  words: ['POLICY'],
  does: 'says what a policy does with one request: which rules match, with which key, limit and cost, and why others do not; calls no store',
  flags: {
    path: { value: 'PATH', does: 'the request target, with or without a query; needed' },
    method: { value: 'METHOD', does: 'default GET' },
    header: { value: 'NAME:VALUE', does: 'a header of the request', repeat: true },
    query: { value: 'NAME=VALUE', does: 'a parameter of the query', repeat: true },
    claim: { value: 'NAME=VALUE', does: 'a claim of a token that was verified', repeat: true },
    ip: { value: 'ADDRESS', does: 'the address of the peer; forwarding headers count where the policy trusts it' },
    cost: { value: 'N', does: 'what the caller says it costs, instead of what the rules say' },
    json: JSON_FLAG,
  },
  examples: ['explain policy.yaml --method POST --path /api/data --header x-api-key:abc --ip 203.0.113.9'],
  async run(args, io) {
    const file = args.words[0] as string
    const policy = readPolicy(file)
    const facts = factsOf(args)
    const { claims, pseudonym } = await createIdentities(file, policy, (result) => {
      if (result !== 'accepted') io.err(`sluice: explain: the token is ignored: ${result}\n`)
    })
    await using engine = createEngine({ policy, store: memoryStore(), claims, pseudonym })
    const explanation = await engine.explain(facts)
    print(io, args, explanation, () => textOf(explanation))
  },
}

function factsOf(args: ParsedArguments) {
  const path = args.text('path')
  if (path?.startsWith('/') !== true)
    throw usage(`explain: --path is ${path === undefined ? 'missing' : JSON.stringify(path)}: expected a path that begins with /`)
  const ip = args.text('ip')
  if (ip !== undefined && clientAddress(ip, {}, trustProxies([])) === undefined)
    throw usage(`explain: --ip is ${JSON.stringify(ip)}: expected an address such as 203.0.113.9 or 2001:db8::1`)
  const cost = args.text('cost')
  if (cost !== undefined && (!/^\d+(?:\.\d{1,6})?$/.test(cost) || Number(cost) === 0))
    throw usage(`explain: --cost is ${JSON.stringify(cost)}: expected a number above 0 with at most six decimals`)
  const query = args.texts('query').map((pair) => pairOf('query', pair, '=').map(encodeURIComponent).join('='))
  const claims = Object.fromEntries(args.texts('claim').map((pair) => pairOf('claim', pair, '=')))
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
    const [name, value] = pairOf('header', text, ':')
    const lower = name.trim().toLowerCase()
    headers.set(lower, [...(headers.get(lower) ?? []), value.trim()])
  }
  return Object.fromEntries(headers)
}

function pairOf(flag: string, text: string, by: string): [string, string] {
  const at = text.indexOf(by)
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)]
  throw usage(`explain: --${flag} is ${JSON.stringify(text)}: expected NAME${by}VALUE`)
}

function textOf({ method, path, readings, unreadable, refusedBy, host, exempt, rules, ...client }: Explanation): string[] {
  const { address = 'an unknown address' } = client
  const matching = rules.filter(({ matches }) => matches)
  const head = `${method} ${path}${host === undefined ? '' : ` at ${host}`} from ${address}`
  const several = readings === undefined ? [] : [`  an upstream may read the path as ${readings.join(' or ')}`]
  if (unreadable !== undefined) several.push(`  ${unreadable}`)
  if (exempt !== undefined) return [`${head}: no rule applies: exempt by ${exempt}`, ...several]
  if (refusedBy !== undefined) return [`${head}: refused with 400, for ${refusedBy} reads a value that cannot be read`, ...several]
  return [`${head}: ${matching.length} of ${rules.length} rules match`, ...several, ...rules.flatMap(ruleText)]
}

function ruleText({ name, mode, why, key = [], tier, overridden, sample, limit, cost }: Explanation['rules'][number]): string[] {
  if (limit === undefined) return [`  ${name}: does not match: ${why ?? 'no reason is known'}`]
  const values = key.map(({ source, value }) => `${source} ${value === null ? 'is absent' : `= ${JSON.stringify(value)}`}`)
  const condition = tier === undefined || tier === '' ? '' : `, tier ${tier}`
  return [
    `  ${name}: matches, ${mode}${condition}`,
    `    key: ${keyText(values)}`,
    `    limit: ${limitText(limit)}, cost ${String(cost)}${sampleText(sample)}`,
    ...(overridden === true ? ['    overridden: this key has a limit of its own'] : []),
  ]
}
