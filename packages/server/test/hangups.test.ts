import { expect, it } from 'vitest'
import { createHangups } from '../src/workers/hangups.ts'

it('SIGHUP reaches workers that serve at once, and others once when they begin to serve', () => {
  const sent: string[] = []
  const workerOf = (name: string) => ({ process: { kill: (signal: string) => sent.push(`${signal} to ${name}`) } })
  const [early, late, later] = [workerOf('early'), workerOf('late'), workerOf('later')]
  const [workers, serving] = [[early, late], new Set([early])]
  const { hangUp, serves } = createHangups(() => workers, serving)
  hangUp()
  hangUp()
  expect(sent).toEqual(['SIGHUP to early', 'SIGHUP to early'])
  workers.push(later)
  for (const worker of [late, later]) {
    serving.add(worker)
    serves(worker)
  }
  expect(sent.slice(2)).toEqual(['SIGHUP to late'])
  hangUp()
  expect(sent.slice(3)).toEqual(['SIGHUP to early', 'SIGHUP to late', 'SIGHUP to later'])
})
