import { LimiterError, type Store, StoreFailure } from 'sluice'
import { regionalStore, replicate } from 'sluice/regions'
import type { ReadMetric } from 'sluice/observe'
import { usage } from '../cli/failure.ts'
import { BadRequest, Refusal, send } from '../http/answer.ts'
import { readBytes } from '../http/body.ts'
import type { Routed } from '../http/routes.ts'
import type { Log } from '../logs/log.ts'
import { readRegionKeys, type RegionOptions } from './options.ts'
import { followOwnStore, storeFailureText } from './own-store.ts'
import { createPeers } from './peers.ts'
import { beginEra, type WantedEra } from './begin-era.ts'
import { regionLines } from './region-lines.ts'
import { ownStoreMetric, type RegionCounts, regionMetrics, weightMetrics } from './region-metrics.ts'
import { type RegionStatus, statusOf } from './region-status.ts'
import { createGate, type RegionKeys, signPage } from './signatures.ts'

/** Bytes. A peer's request has at most 250 keys. A key and its limit's name together have at most 768 characters, of at most six bytes each. */
const MAX_REQUEST_BYTES = 2_097_152
/** Milliseconds to wait for the store to say which region it belongs to. After that, the service starts without knowing. */
const OWNER_MS = 2_000

export interface Region {
  readonly store: Store
  readonly metrics: readonly ReadMetric[]
  status(): RegionStatus
  /**
   * Changes the weights of the regions; absent unless the mode is `escrow`.
   * @throws Refusal 409 as `beginEra`; LimiterError for weights that cannot be used
   */
  reweigh?(wanted: WantedEra): Promise<void>
  /** Absent if the regions do not call each other. */
  pull?(routed: Routed): Promise<void>
  readKeys(): void
  close(): Promise<void>
}

/**
 * For mode `escrow` or `counters`.
 * @param storeName for messages
 * @throws CommandFailure as `readRegionKeys`; exit 3 for another region's store; LimiterError NOT_SUPPORTED for a store over which the mode
 * does not run
 */
export async function openRegion(
  { self, mode, cutoffMs, others, weights, peers, keyFile }: RegionOptions,
  inner: Store,
  storeName: string,
  log: Log,
): Promise<Region> {
  let keys: RegionKeys = readRegionKeys(keyFile)
  const counts: RegionCounts = { refused: 0, failed: new Map(others.map((name) => [name, 0])) }
  const cutoff = cutoffMs === undefined ? {} : { cutoffMs }
  const store = regionalStore({ store: inner, self, mode, ...cutoff, ...(weights === undefined ? { peers: others } : { weights }) })
  await refuseOtherRegion(store, storeName)
  const [lines, own] = [regionLines(log, { self, mode }), followOwnStore(self)]
  const replicator = replicate({
    store,
    transport: createPeers(peers, () => keys),
    onError(peer, error) {
      if (peer !== self) counts.failed.set(peer, (counts.failed.get(peer) ?? 0) + 1)
      lines.failed(peer, error, own.failed(peer, error), peer === self ? 'cannot publish what its callers need' : 'cannot be read')
    },
  })
  const gate = createGate(self, () => keys)
  const watch = setInterval(() => lines.update(replicator), 1_000).unref()
  return {
    store,
    metrics: [...weightMetrics(() => replicator.status().weights), ...regionMetrics(replicator, counts), ownStoreMetric(replicator, own)],
    status: () => statusOf(mode, replicator.status(), peers, counts, own),
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

/**
 * If the store does not answer now, the service starts: later calls check the region.
 * @throws CommandFailure exit 3 for the store of another region
 */
async function refuseOtherRegion(store: Store, name: string): Promise<void> {
  try {
    await store.ready({ deadline: performance.now() + OWNER_MS })
  } catch (error) {
    if (error instanceof StoreFailure && error.cause instanceof LimiterError) throw usage(`serve: store ${name}: ${error.cause.message}`)
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
  if (error instanceof StoreFailure) throw new Refusal(503, `${storeFailureText(error).replace(/^t/, 'T')}.`)
  throw error
}
