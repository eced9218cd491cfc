import type { KeyState, KeyTarget } from 'sluice/policy'

/** Access to the states of keys, in a running service or in a store. Its methods reject with CommandFailure. */
export interface KeyHolder {
  /** Printable, without a password. */
  readonly name: string
  inspect(target: KeyTarget): Promise<readonly KeyState[]>
  reset(target: KeyTarget): Promise<void>
  /** Blocks a key for `duration` milliseconds; null lifts the block. */
  block(target: KeyTarget, duration: number | null): Promise<void>
  close(): Promise<void>
}
