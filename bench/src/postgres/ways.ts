import { article, compatFunction } from './article.ts'
import { flexible } from './flexible.ts'
import { bare, bareSwap, coalescing, regionOf, sluice, swap } from './sluice.ts'
import { update } from './update.ts'
import type { Way } from './way.ts'

/** The short names of the ways to keep a limit in PostgreSQL. Child processes get these names. */
export type WayName =
  | 'article'
  | 'compat'
  | 'update'
  | 'bare'
  | 'coalescing'
  | 'sluice'
  | 'swap'
  | 'bareSwap'
  | 'flexible'
  | 'region_escrow'
  | 'region_rows'

export const POSTGRES_WAYS: Readonly<Record<WayName, Way>> = {
  article,
  compat: compatFunction,
  update,
  bare,
  coalescing,
  sluice,
  swap,
  bareSwap,
  flexible,
  region_escrow: regionOf('escrow'),
  region_rows: regionOf('rows'),
}
