import { setPriority } from 'node:os'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { PolicyError, type PolicyIssue, type PortablePolicy, readPortable } from 'sluice/policy'
import type { Candidate } from './read-policy.ts'

/** `pieces`: the port for the parts of the parsed tree, sent before the answer. */
export interface ParsingBegins extends Candidate {
  readonly pieces: MessagePort
}

export type Parsed = { readonly portable: Omit<PortablePolicy, 'pieces'> } | { readonly issues: readonly PolicyIssue[] }

/** Nice value: on Linux, decisions go first on a shared processor. */
const LOWER = 5
if (process.platform === 'linux') {
  try {
    setPriority(LOWER)
  } catch {
    // Without permission the thread keeps its normal priority.
  }
}

const { text, filename, format, acceptedAt, pieces } = workerData as ParsingBegins
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread, which has no origin
parentPort?.postMessage(parsed())

function parsed(): Parsed {
  try {
    const { pieces: parts, ...portable } = readPortable(text, { filename, format, now: acceptedAt })
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- as above
    for (const piece of parts) pieces.postMessage(piece)
    return { portable }
  } catch (error) {
    if (error instanceof PolicyError) return { issues: error.issues }
    throw error
  }
}
