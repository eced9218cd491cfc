import { holds } from '../postgres/holds.ts'
import { denied, hotKey, million, mixed, thousand } from '../postgres/loads.ts'
import { grants, size } from '../postgres/proofs.ts'
import { regions } from '../postgres/regions.ts'
import type { Suite } from './suite.ts'

/** Measures the PostgreSQL store. */
export const postgres: Suite = {
  name: 'postgres',
  title: 'the PostgreSQL store and its ring, compared with other ways and another library',
  summary: 'the PostgreSQL store under five loads, compared with other ways; bytes a key, groups of limits, holds, and regions',
  parts: [hotKey, thousand, million, denied, mixed, size, grants, holds, regions],
  // There are six limiters with 32 connections each. A commit does not wait for the disk, because the wait would hide the measured costs.
  postgres: ['max_connections=300', 'synchronous_commit=off'],
  seconds: { quick: 0.3, full: 1.3 },
}
