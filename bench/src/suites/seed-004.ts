import { hot, single } from '../postgres/parts.ts'
import { example, sessions } from '../postgres/seed-004.ts'
import { yugabyte } from '../postgres/yugabyte.ts'
import type { Suite } from './suite.ts'

/** Compares the PostgreSQL store with the function of the article "Rate limiting with PostgreSQL / YugabyteDB". */
export const seed004: Suite = {
  name: 'seed-004',
  title: 'the function of the article against the PostgreSQL store',
  summary: 'the PostgreSQL store against the function of Rate limiting with PostgreSQL / YugabyteDB',
  document: 'Rate limiting with PostgreSQL / YugabyteDB',
  parts: [hot, single, sessions, example, yugabyte],
  seconds: { quick: 0.3, full: 1.6 },
  // Seven ways with 32 connections each.
  postgres: ['max_connections=300'],
}
