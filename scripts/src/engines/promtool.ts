import { findBinary, type Found } from './find.ts'

/** The program of Prometheus that checks and tests alert rules. */
export function findPromtool(): Found {
  return findBinary('promtool', [], 'prometheus')
}
