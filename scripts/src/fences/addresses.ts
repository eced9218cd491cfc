export type EngineName = 'redis' | 'postgres'

/** The servers that documents name, and the usual addresses by which they name them. */
const ENGINES: readonly { readonly name: EngineName; readonly address: RegExp }[] = [
  { name: 'redis', address: /\brediss?:\/\/(?:127\.0\.0\.1|localhost):6379\b(?:\/\d+)?/g },
  { name: 'postgres', address: /\bpostgres(?:ql)?:\/\/(?:[\w:]+@)?(?:127\.0\.0\.1|localhost)(?::5432)?\/\w+/g },
]

/** A port that a document uses: after the loopback address, in `PORT=`, or where a program listens. */
const PORT = /(?:\b127\.0\.0\.1:|\blocalhost:|\bPORT=|\.listen\()(\d{4,5})\b/g

/** The engines that a text names. */
export function enginesIn(text: string): EngineName[] {
  return ENGINES.filter(({ address }) => text.search(address) !== -1).map(({ name }) => name)
}

/** The ports that a text names, without the ports of engines, in the order of their first mention. */
export function portsIn(text: string): number[] {
  const rest = ENGINES.reduce((left, { address }) => left.replaceAll(address, ''), text)
  return [...new Set([...rest.matchAll(PORT)].map(([, port]) => Number(port)))]
}

/** The addresses and ports of this run, which replace those that a document names. */
export interface Addresses {
  readonly engines: ReadonlyMap<EngineName, string>
  readonly ports: ReadonlyMap<number, number>
}

/** The text with the addresses of this run. */
export function withAddresses(text: string, { engines, ports }: Addresses): string {
  const found = ENGINES.reduce((left, { name, address }) => {
    const url = engines.get(name)
    return url === undefined ? left : left.replaceAll(address, () => url)
  }, text)
  return [...ports].reduce((left, [named, given]) => left.replaceAll(new RegExp(`\\b${named}\\b`, 'g'), String(given)), found)
}

/** The printed text, with the ports of this run replaced by those that the document names. */
export function withNamedPorts(text: string, { ports }: Addresses): string {
  return [...ports].reduce((left, [named, given]) => left.replaceAll(new RegExp(`\\b${given}\\b`, 'g'), String(named)), text)
}
