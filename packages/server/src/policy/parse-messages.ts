import type { MessagePort } from 'node:worker_threads'
import type { PolicyIssue, PortablePolicy } from 'sluice/policy'

/** A policy text to parse. */
export interface ToParse {
  readonly text: string | Uint8Array
  readonly filename: string
  readonly format?: 'yaml' | 'json'
}

/** Start data of the thread. `pieces` gets the parts of the tree, all of them before the thread answers. */
export interface ParsingBegins extends ToParse {
  readonly pieces: MessagePort
}

/** The thread's single answer. */
export type Parsed = { readonly portable: Omit<PortablePolicy, 'pieces'> } | { readonly issues: readonly PolicyIssue[] }
