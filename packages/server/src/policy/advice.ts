import type { Policy, Rule } from 'sluice/policy'

/** Sources whose value the client itself chooses: a client that sends another value gets another bucket. */
const CHOSEN = /^(?:header|query|cookie):/

/**
 * Warnings of `sluice check` about probable mistakes. Whether they are mistakes depends on the servers in front of the service. So they are
 * not warnings of the policy itself, and `serve` does not print them.
 */
export function adviceOf(policy: Policy): string[] {
  const enforced = policy.rules.filter(({ mode }) => mode === 'enforce')
  const rotated = enforced.filter((rule) => isChosen(rule) && !enforced.some((other) => !isChosen(other) && covers(other, rule)))
  return [...proxyAdvice(policy), ...rotated.map(rotationAdvice)]
}

function proxyAdvice({ trustedProxies, rules }: Policy): string[] {
  const byAddress = rules.filter((rule) => rule.mode !== 'off' && readsAddress(rule)).map(({ name }) => name)
  if (trustedProxies !== undefined || byAddress.length === 0) return []
  const [first = ''] = byAddress
  const which = byAddress.length === 1 ? `rule ${first} reads` : `${byAddress.length} rules, such as ${first}, read`
  return [
    `${which} the client's address, and trustedProxies is missing: behind a proxy all clients have the proxy's address and share one bucket; name the proxies, or write trustedProxies: [] if clients connect directly`,
  ]
}

function rotationAdvice({ name, key }: Rule): string {
  const sources = key.flat().map(({ text }) => text)
  return `rule ${name} counts by ${sources.join(', ')} alone, and a client may send another value with each request to get a new bucket: let a proxy check the value, or add a rule by ip:address for the same requests`
}

function readsAddress({ key, match, tiers }: Rule): boolean {
  const conditions = [match.when, ...tiers.map(({ when }) => when)].flat()
  return [...key.flat(), ...conditions.map(({ source }) => source)].some(({ text }) => text.startsWith('ip:'))
}

/**
 * Whether clients choose the keys of a rule. The value of a part of a key is that of the first of its sources that has one. So clients
 * choose a part if they choose one of its sources.
 */
function isChosen({ key }: Rule): boolean {
  return key.some(isChosenPart) && key.every((part) => isChosenPart(part) || part.every((source) => source.neutral === true))
}

function isChosenPart(part: Rule['key'][number]): boolean {
  return part.some(({ text }) => CHOSEN.test(text))
}

/** True only if a rule applies to every request that the other rule applies to. A false result is not certain. */
function covers({ match }: Rule, other: Rule): boolean {
  if (match.when.length > 0) return false
  const { path, methods, hosts } = match
  const samePath = path === undefined || path.text === other.match.path?.text
  const sameHosts = hosts === undefined || textsOf(hosts) === textsOf(other.match.hosts ?? [])
  const sameMethods =
    methods === undefined || (other.match.methods !== undefined && [...other.match.methods].every((one) => methods.has(one)))
  return samePath && sameHosts && sameMethods
}

function textsOf(hosts: readonly { readonly text: string }[]): string {
  return hosts.map(({ text }) => text).join(' ')
}
