import type { ReplicateOptions } from 'sluice/regions'
import { isPageOf, type RegionKeys, signRequest } from './signatures.ts'

export const REGION_PATH = '/v1/regions/pull'
/** Bytes; more than a page (the answer to a request) has. */
const MAX_PAGE_BYTES = 16_777_216

/**
 * Messages are signed, so forged ones are refused. A signature does not hide callers' keys: use https outside a private network.
 * @param keysNow read at each request, because keys are replaced at run time
 */
export function createPeers(peers: ReadonlyMap<string, URL>, keysNow: () => RegionKeys): NonNullable<ReplicateOptions['transport']> {
  return async (peer, request, signal) => {
    const keys = keysNow()
    const body = JSON.stringify(request)
    const signed = signRequest(keys, peer, body, Date.now())
    const headers = { ...signed, 'content-type': 'application/json', accept: 'application/json' }
    const url = new URL(`.${REGION_PATH}`, peers.get(peer))
    const response = await fetch(url, { method: 'POST', body, headers, signal, redirect: 'error' }).catch((error: unknown) => {
      throw new Error(`${url.origin} cannot be reached: ${reasonOf(error)}`, { cause: error })
    })
    const text = await textOf(response)
    if (response.status !== 200) throw new Error(`${url.origin} returned ${response.status}: ${detailOf(text)}`)
    // The peer may use another key while keys are replaced in one region after another.
    if (!isPageOf(keysNow(), signed['sluice-nonce'], text, response.headers.get('sluice-signature')))
      throw new Error(`${url.origin} returned a page with another signature: compare the files of --region-key-file`)
    return JSON.parse(text)
  }
}

/** @throws Error for a body that is larger than any page */
async function textOf({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += part.length
    if (size > MAX_PAGE_BYTES) throw new Error(`a page is larger than ${MAX_PAGE_BYTES} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** `fetch` gives the reason only as the error's cause. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as Error
  return cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code || message : message
}

function detailOf(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown }
    if (typeof detail === 'string') return detail.slice(0, 300)
  } catch {
    // Something else than a service answered.
  }
  return text.slice(0, 100)
}
