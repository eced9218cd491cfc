import { LimiterError } from 'sluice'
import { parseStoreUrl, type Policy, PolicyError, type StoreKind, storeParameterMistake } from 'sluice/policy'
import { CommandFailure, usage } from '../cli/failure.ts'
import { createIdentities } from '../identity/identities.ts'
import type { Io } from '../cli/io.ts'
import { storeFlags, storeUrlOf } from '../cli/store-flags.ts'
import { counted } from '../logs/counted.ts'
import { adviceOf } from '../policy/advice.ts'
import { POLICY_FLAGS, type PolicyPlace, policyPlace } from '../policy/policy-place.ts'
import { type RegionFacts, regionFacts, regionProblems, regionsText } from '../policy/region-facts.ts'
import { limitText } from '../policy/limit-text.ts'
import { type RuleFacts, ruleFacts } from '../policy/rule-facts.ts'
import { STORE_FORMS } from '../stores/open-store.ts'
import { withoutPassword } from '../stores/store-name.ts'
import { tokenWarning } from '../identity/token-warnings.ts'
import { JSON_FLAG, type ParsedArguments, print, type Verb } from '../cli/verb.ts'

export const checkVerb: Verb = {
  name: 'check',
  words: ['POLICY'],
  does: 'validates a policy and says what it means, rule by rule: requests, keys, limits, costs, bounds, and what is probably not meant',
  flags: { ...storeFlags("the store that bounds are computed for, default the policy's, else memory:"), ...POLICY_FLAGS, json: JSON_FLAG },
  examples: ['check policy.yaml', 'check policy.yaml --store redis://127.0.0.1:6379 --json'],
  async run(args, io) {
    const store = storeUrlOf('check', args, io)
    const place = policyPlace(args.words[0] as string, args)
    const facts = await factsOf(place.file, await readReporting(io, args, place), store)
    print(io, args, facts, () => textOf(place.name, facts))
  },
}

type Facts = Awaited<ReturnType<typeof factsOf>>

/** With --json, mistakes are also printed as JSON. */
async function readReporting(io: Io, args: ParsedArguments, place: PolicyPlace): Promise<Policy> {
  try {
    return (await place.read({ pipes: true })).policy
  } catch (error) {
    if (args.switch('json') && error instanceof CommandFailure && error.cause instanceof PolicyError)
      print(io, args, { valid: false, issues: error.cause.issues }, () => [])
    throw error
  }
}

async function factsOf(file: string, policy: Policy, store: string | undefined) {
  const { dialect, hash, failure, identifiers, jwt, regions, reservations, exempt = [], overrides = [] } = policy
  const url = store === undefined ? policy.storeUrl : parseStoreUrl(store)
  if (store !== undefined && url === undefined) {
    const mistake = storeParameterMistake(store) ?? `is not the URL of a store: expected ${STORE_FORMS}`
    throw usage(`check: store ${withoutPassword(store)} ${mistake}`)
  }
  const ofTokens = policy.rules.flatMap((rule) => tokenWarning(policy, rule) ?? [])
  const kind: StoreKind = url === undefined || url.scheme === 'memory' ? 'process' : 'shared'
  return {
    valid: true,
    dialect,
    hash,
    store: withoutPassword(url?.url ?? 'memory:'),
    failure,
    regions: regions && regionFacts(regions),
    identifiers: identifiers?.mode ?? 'plain',
    tokens: jwt === undefined ? 'not verified' : jwt.by === 'upstream' ? 'verified upstream' : `verified by ${jwt.by}`,
    maxHolds: reservations?.maxHolds,
    exempt: exempt.map(({ text }) => text),
    overrides: overrides.length,
    rules: policy.rules.map((rule) => ruleFacts(policy, rule, kind)),
    warnings: [
      ...policy.warnings,
      ...ofTokens,
      ...adviceOf(policy),
      ...regionProblems(policy, url?.url ?? 'memory:'),
      ...(await fileWarnings(file, policy)),
    ],
  }
}

/** Only warnings, because a policy may be checked on a machine without its secrets. */
async function fileWarnings(file: string, policy: Policy): Promise<string[]> {
  try {
    await createIdentities(file, policy, () => {})
    return []
  } catch (error) {
    if (error instanceof LimiterError) return [`${error.message}; serve would not start here`]
    throw error
  }
}

function textOf(file: string, facts: Facts): string[] {
  const { dialect, hash, store, failure, regions, identifiers, tokens, maxHolds, exempt, overrides, rules, warnings } = facts
  return [
    `${file}: valid, dialect ${dialect}, ${counted(rules.length, 'rule')}, deadline ${failure.deadlineMs} ms, hash ${hash}`,
    `  store ${store}, identifiers ${identifiers}, tokens ${tokens}`,
    ...(regions === undefined ? [] : regionLines(regions)),
    ...(maxHolds === undefined ? [] : [`  reservations: at most ${maxHolds} of a key are open at once`]),
    ...exempt.map((text) => `  exempt: ${text}`),
    ...(overrides === 0
      ? []
      : [`  overrides: ${overrides === 1 ? 'one key has a limit of its own' : `${overrides} keys have limits of their own`}`]),
    ...rules.flatMap(ruleText),
    ...warnings.map((warning) => `warning: ${warning}`),
  ]
}

function regionLines(facts: RegionFacts): string[] {
  const self = facts.self === undefined ? 'this region is said by --region' : `this region is ${facts.self}`
  return [`  regions ${regionsText(facts)}; ${self}`, ...facts.notBounded.map((what) => `    in no bound: ${what}`)]
}

function ruleText({ name, mode, match, exempt = [], key, tiers, bound, ...rule }: RuleFacts): string[] {
  const budget = bound?.budget === undefined ? '' : `; at most ${bound.budget} is allowed`
  return [
    `  ${name}: ${mode}, cost ${rule.cost}${sampleText(rule.sample)}, on store failure ${rule.onStoreFailure}`,
    `    match: ${matchText(match)}`,
    ...exempt.map((text) => `    exempt: ${text}`),
    `    key: ${keyText(key)}`,
    ...tiers.map((tier) => `    tier ${tier.label}: ${limitText(tier)}`),
    `    bound: ${bound === undefined ? `none: ${mode} stops nobody` : `over-grant ${bound.text}${budget}`}`,
  ]
}

/** `explain` prints the same text. */
export function sampleText(sample: number | undefined): string {
  return sample === undefined ? '' : `, one request in ${sample} counted ${sample} times`
}

export function keyText(parts: readonly string[]): string {
  return parts.length === 0 ? 'one bucket for everybody' : parts.join(', ')
}

function matchText({ methods, path, hosts, when = [] }: RuleFacts['match']): string {
  const parts = [
    ...(methods === undefined ? [] : [`method ${methods.join(' or ')}`]),
    ...(path === undefined ? [] : [`path ${path}`]),
    ...(hosts === undefined ? [] : [`host ${hosts.join(' or ')}`]),
    ...when.map(({ source, value }) => `${source} is ${value}`),
  ]
  return parts.length === 0 ? 'every request' : parts.join(', ')
}
