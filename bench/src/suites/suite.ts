import type { Part } from '../part.ts'
import type { Depth } from '../result/suite-result.ts'

/** A benchmark that can be chosen by name. It is data: `runSuite` measures its parts. */
export interface Suite {
  readonly name: string
  readonly title: string
  /** One line of the usage. */
  readonly summary: string
  /** The title of the document whose figures it reproduces. */
  readonly document?: string
  readonly parts: readonly Part[]
  /** The seconds of one comparison. The aim is at most 8 minutes for a suite, and 15 minutes for a quick run of all suites. */
  readonly seconds: Readonly<Record<Depth, number>>
  /** Settings of its PostgreSQL (`name=value`) in addition to the defaults. */
  readonly postgres?: readonly string[]
}
