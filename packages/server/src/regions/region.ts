import { LimiterError, type Store, StoreFailure } from 'sluice'
import { type Replicator, regionalStore, replicate } from 'sluice/regions'
import type { ReadMetric } from 'sluice/observe'
import { BadRequest, Refusal, send } from '../http/answer.ts'
import { readBytes } from '../http/body.ts'
import type { Routed } from '../http/routes.ts'
import type { Log } from '../logs/log.ts'
import { readRegionKeys, type RegionOptions } from './options.ts'
import { createPeers } from './peers.ts'
import { beginEra, type WantedEra } from './begin-era.ts'
import { type RegionCounts, regionMetrics, weightMetrics } from './region-metrics.ts'
import { type RegionStatus, statusOf } from './region-status.ts'
import { createGate, type RegionKeys, signPage } from './signatures.ts'

/** The most bytes of a peer's request. A request has at most 250 needs, with keys of at most 512 characters. */
const MAX_REQUEST_BYTES = 2_097_152

/** The part of a service that shares limits with other regions. */
export interface Region {
  /** The store to decide with. */
  readonly store: Store
  readonly metrics: readonly ReadMetric[]
  /** The status of the region, for an operator. */
  status(): RegionStatus
  /**
   * Begins an era with other weights; absent if the regions keep fixed parts.
   * @throws Refusal 409 while a region cannot be reached, or while this region is not open; LimiterError for weights that cannot be used
   */
  reweigh?(wanted: WantedEra): Promise<void>
  /** Answers a peer; absent if the regions do not call each other. */
  pull?(routed: Routed): Promise<void>
  /** Reads the file of keys again. */
  readKeys(): void
  close(): Promise<void>
}

/** @throws CommandFailure as `readRegionKeys`; LimiterError NOT_SUPPORTED for a store that cannot send units */
export function openRegion({ self, mode, cutoffMs, others, weights, peers, keyFile }: RegionOptions, inner: Store, log: Log): Region {
  let keys: RegionKeys = readRegionKeys(keyFile)
  const counts: RegionCounts = { refused: 0, failed: new Map(others.map((name) => [name, 0])) }
  const cutoff = cutoffMs === undefined ? {} : { cutoffMs }
  const store = regionalStore({ store: inner, self, mode, ...cutoff, ...(weights === undefined ? { peers: others } : { weights }) })
  const failing = createFailing(log, mode)
  const replicator = replicate({
    store,
    transport: createPeers(peers, () => keys),
    onError(peer, error) {
      if (peer !== self) counts.failed.set(peer, (counts.failed.get(peer) ?? 0) + 1)
      failing.failed(peer, error, peer === self ? 'cannot publish what its callers need' : 'cannot be read')
    },
  })
  const gate = createGate(self, () => keys)
  const watch = setInterval(() => failing.look(replicator), 1_000).unref()
  return {
    store,
    metrics: [...weightMetrics(() => replicator.status().weights), ...regionMetrics(replicator, counts)],
    status: () => statusOf(mode, replicator.status(), peers, counts),
    ...(mode === 'escrow' ? { reweigh: (wanted) => beginEra(store, wanted, replicator.status()).catch(refuse) } : {}),
    async pull({ request, response }) {
      const body = (await readBytes(request, MAX_REQUEST_BYTES)).toString('utf8')
      const admitted = gate.admit(request.headers, body, Date.now())
      if ('why' in admitted) {
        counts.refused += 1
        throw new Refusal(401, `The request of a region is refused: ${admitted.why}.`, {}, [['WWW-Authenticate', 'Sluice-Signature']])
      }
      const page = JSON.stringify(await replicator.answer(parsed(body)).catch(refuse))
      send(response, 200, 'application/json', page, [['Sluice-Signature', signPage(keys, admitted.nonce, page)]])
    },
    readKeys() {
      try {
        keys = readRegionKeys(keyFile)
      } catch (error) {
        log('error', 'region-key', `keeps its region keys: ${(error as Error).message}`)
      }
    },
    close() {
      clearInterval(watch)
      return replicator.close()
    },
  }
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw new BadRequest('The body is not JSON.')
  }
}

function refuse(error: unknown): never {
  if (error instanceof LimiterError && error.code === 'CLOSED') throw new Refusal(503, 'The service ends.')
  if (error instanceof StoreFailure) throw new Refusal(503, `The store of this region does not answer: ${error.message}.`)
  throw error
}

/** Writes one line when a peer cannot be read any more, and one when it can again. */
function createFailing(log: Log, mode: RegionOptions['mode']) {
  const failing = new Map<string, string>()
  let phase: string | undefined
  return {
    failed(peer: string, error: unknown, what: string): void {
      const message = error instanceof Error ? error.message : String(error)
      const why = error instanceof StoreFailure ? `the store of this region does not answer: ${message}` : message
      if (failing.has(peer)) return
      failing.set(peer, why)
      log('warn', 'region-away', `region ${peer} ${what}: ${why}; trying again`, { region: peer })
    },
    look(replicator: Replicator): void {
      const status = replicator.status()
      for (const [peer, { failures }] of Object.entries(status.peers)) {
        if (failures === 0 && failing.delete(peer)) log('info', 'region-back', `region ${peer} can be read again`, { region: peer })
      }
      if (status.phase === phase) return
      phase = status.phase
      const { self, era } = status
      const what = {
        learning:
          mode === 'counters' ? 'keeps to its part until it has read all other regions' : 'holds nothing until all other regions know it',
        open: 'shares its limits',
        closed: 'waits for the other regions',
      }
      const when = mode === 'counters' ? '' : ` in era ${era}`
      log('info', 'region-phase', `region ${self} is ${phase}${when}: it ${what[status.phase]}`, { region: self, phase, era })
    },
  }
}
