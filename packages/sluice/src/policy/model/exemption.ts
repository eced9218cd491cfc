import { type Address, parseAddress } from '../../identity/address.ts'
import type { NetworkSet } from '../../identity/network.ts'
import { everyReading } from '../../identity/path-readings.ts'
import type { Request } from '../../identity/request.ts'
import type { Source } from '../../identity/source.ts'
import { type Glob, pathSegments } from './glob.ts'

/** Requests that are not limited; all present fields must hold. */
export interface Exemption {
  readonly text: string
  readonly paths?: readonly Glob[]
  readonly networks?: NetworkSet
  /** They count only if a trusted proxy sent the request. */
  readonly headers?: readonly HeaderText[]
}

export interface HeaderText {
  readonly source: Source
  readonly value: string
}

/** If upstreams may read the path in several ways, the exemption must hold for all of them. */
export function exemptionOf(exemptions: readonly Exemption[] | undefined, request: Request): Exemption | undefined {
  if (exemptions === undefined || exemptions.length === 0) return undefined
  const address = request.address === undefined ? undefined : parseAddress(request.address)
  return exemptions.find((exemption) => exempts(exemption, request, address))
}

function exempts({ paths, networks, headers }: Exemption, request: Request, address: Address | undefined): boolean {
  if (paths !== undefined && !everyReading(request, ({ path }) => matchesOne(paths, path))) return false
  if (networks !== undefined && (address === undefined || !networks.holds(address))) return false
  if (headers === undefined) return true
  return request.trustedPeer && headers.every(({ source, value }) => source.read(request) === value)
}

function matchesOne(globs: readonly Glob[], path: string): boolean {
  const segments = pathSegments(path)
  return globs.some((glob) => glob.matches(segments))
}
