import { ROOT } from './native/grammar.ts'
import type { Schema } from './native/shape.ts'

/**
 * The native dialect as a JSON Schema (draft 2020-12), for editors and for programs that write policies. It comes from the same table as
 * the parser, so every policy that loads is valid. Conditions across several fields, such as duplicate names or a burst that a rate
 * cannot carry, are checked only by the parser.
 */
export const policySchema: Schema = Object.freeze({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Sluice policy, native dialect',
  ...ROOT.schema,
})
