import { appendFileSync } from 'node:fs'
import { afterAll } from 'vitest'
import { SET } from './reach.ts'

/** Runs with each test file. Writes the functions that `marked` sources recorded to the file in `SLUICE_ENTERED`. */
afterAll(() => {
  const entered = (globalThis as unknown as Record<string, Set<string> | undefined>)[SET]
  const file = process.env['SLUICE_ENTERED']
  if (entered !== undefined && file !== undefined) appendFileSync(file, `${JSON.stringify([...entered])}\n`)
})
