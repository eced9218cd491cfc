import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { amount } from '../reading-text.ts'
import type { Reading } from '../reading.ts'
import type { Part, PartOptions } from '../part.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const GATES = [
  { name: 'npm test', args: ['test'], atMost: 240 },
  { name: 'npm run check', args: ['run', 'check'], atMost: 120 },
] as const

/** How long a change has to wait for its answer. */
export const gates: Part = {
  name: 'gates',
  title: 'the repository’s own gates, in wall time on this machine',
  async run(options) {
    const readings: Reading[] = []
    for (const gate of GATES) readings.push(await time(gate, options))
    return { readings, notes: ['The goals are for two cores with nothing else to do.'] }
  },
}

async function time({ name, args, atMost }: (typeof GATES)[number], { say, atEnd }: PartOptions): Promise<Reading> {
  say(`${name}; its own output is not shown`)
  const started = performance.now()
  const child = spawn('npm', [...args], { cwd: ROOT, stdio: 'ignore' })
  atEnd(async () => void child.kill())
  const [code] = (await once(child, 'close')) as [number | null]
  const value = (performance.now() - started) / 1_000
  const goal = { atMost }
  if (code !== 0) return { name, goal, absent: `it failed with ${String(code)} after ${amount(value, 's')}` }
  return { name, unit: 's', value, goal }
}
