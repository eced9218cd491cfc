/** A JSON Schema (draft 2020-12), as data. */
export type Schema = { readonly [keyword: string]: unknown }

export interface Shape {
  readonly names: readonly string[]
  readonly schema: Schema
}

export function shapeOf(properties: Readonly<Record<string, Schema>>, more: Schema = {}): Shape {
  return Object.freeze({
    names: Object.freeze(Object.keys(properties)),
    schema: { type: 'object', properties, additionalProperties: false, ...more },
  })
}

export const about = (description: string, schema: Schema): Schema => ({ description, ...schema })
export const oneOf = (values: readonly string[]): Schema => ({ enum: values })
export const listOf = (items: Schema, more: Schema = {}): Schema => ({ type: 'array', items, ...more })
/** One item, or a list of at least one. */
export const oneOrMore = (item: Schema): Schema => ({ anyOf: [item, listOf(item, { minItems: 1, maxItems: 1_000 })] })
export const wholeFrom = (least: number, most: number): Schema => ({ type: 'integer', minimum: least, maximum: most })
/** YAML may read a text without quotes as another type. */
export const SCALAR: Schema = { type: ['string', 'number', 'boolean'] }
export const TEXT: Schema = { type: 'string', minLength: 1 }
