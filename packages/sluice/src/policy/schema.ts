import { ROOT } from './native-shape.ts'
import type { Schema } from './shape.ts'

/**
 * The native dialect as a JSON Schema (draft 2020-12), for editors and for programs that write policies. Made of the table that the parser
 * reads, so every policy that loads is valid by it; what depends on several fields at once (names that are used twice, a burst that a rate
 * cannot carry) only the parser knows.
 */
export const policySchema: Schema = Object.freeze({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Sluice policy, native dialect',
  ...ROOT.schema,
})
