import type { Policy, Rule } from 'sluice/policy'

/** A client can send another value of these sources, and so get another bucket. */
const CHOSEN = /^(?:header|query|cookie):/

/** `serve` does not print these warnings: what they warn of may be right, depending on the servers in front of the service. */
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

/** A part counts as chosen if a client chooses any of its sources: the client can often leave out the earlier ones. */
function isChosen({ key }: Rule): boolean {
  return key.some(isChosenPart) && key.every((part) => isChosenPart(part) || part.every((source) => source.neutral === true))
}

function isChosenPart(part: Rule['key'][number]): boolean {
  return part.some(({ text }) => CHOSEN.test(text))
}

/** May be false although the rule applies to every request of the other. */
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
