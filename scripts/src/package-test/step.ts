import type { EngineName } from '../fences/addresses.ts'
import type { Packed } from '../release/pack.ts'
import type { Place } from './place.ts'
import type { Program } from './programs.ts'

/** What the steps use. */
export interface Context {
  readonly root: string
  readonly place: Place
  readonly library: Packed
  readonly server: Packed
  /** The programs of README. */
  readonly programs: readonly Program[]
  /** The servers that programs need, as they were found. */
  readonly urls: ReadonlyMap<EngineName, string>
}

/** One thing that a user does with the packages. */
export interface Step {
  readonly name: string
  /** @throws Error if it does not work, Skip if it cannot be tried here */
  run(context: Context): Promise<void>
}

/** A step that cannot be tried on this machine. */
export class Skip extends Error {
  /** What is missing; `SLUICE_REQUIRE` turns the skip of these names into a failure. */
  readonly missing: string

  constructor(missing: string, reason: string) {
    super(reason)
    this.missing = missing
  }
}

/** @throws Error with both texts if they differ */
export function expectSame(what: string, found: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)]
  if (one !== other) throw new Error(`${what}: found ${one}, expected ${other}`)
}
