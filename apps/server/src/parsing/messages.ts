import type { MessagePort } from 'node:worker_threads'
import type { PolicyIssue, PortablePolicy } from 'sluice/policy'

/** A policy's source to be read. */
export interface ToParse {
  readonly text: string | Uint8Array
  readonly filename: string
  readonly format?: 'yaml' | 'json'
}

/** What the thread is started with: `pieces` takes the parts of the tree, all of them before the thread answers. */
export interface ParsingBegins extends ToParse {
  readonly pieces: MessagePort
}

/** What the thread answers, once. */
export type Parsed = { readonly portable: Omit<PortablePolicy, 'pieces'> } | { readonly issues: readonly PolicyIssue[] }
