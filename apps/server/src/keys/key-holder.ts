import type { KeyState, KeyTarget } from 'sluice/policy'

/** Whoever holds the states of keys: a running service, or a store. Its verbs end in a CommandFailure where they fail. */
export interface KeyHolder {
  /** As it may be printed. */
  readonly name: string
  inspect(target: KeyTarget): Promise<readonly KeyState[]>
  reset(target: KeyTarget): Promise<void>
  /** Milliseconds, or null to lift the block. */
  block(target: KeyTarget, duration: number | null): Promise<void>
  close(): Promise<void>
}
