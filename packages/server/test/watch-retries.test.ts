import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { inOneLine } from '../src/policy/held-policy.ts'
import { watchFile } from '../src/files/watch-file.ts'

const plain = (folder: string): string => {
  writeFileSync(join(folder, 'p.yaml'), 'first')
  return join(folder, 'p.yaml')
}

describe('the reason of a refused policy', () => {
  it('is a sentence; only an unexpected error has its name', () => {
    expect(inOneLine(new Error('p.yaml cannot be read:\n ENOENT'))).toBe('p.yaml cannot be read: ENOENT')
    expect(inOneLine(new TypeError('x is not a function'))).toBe('TypeError: x is not a function')
  })
})

describe('a watched file that could not be read', () => {
  describe('R13: with retries that wait for seconds', () => {
    // Events of the file system come by the real event loop.
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] }))
    afterEach(() => void vi.useRealTimers())

    it.each<[string, (file: string) => void, (file: string) => void]>([
      ['is missing', (file) => unlinkSync(file), () => {}],
      ['is a folder', (file) => (unlinkSync(file), mkdirSync(file)), (file) => rmdirSync(file)],
      ['cannot be taken in', (file) => writeFileSync(file, 'broken'), () => {}],
      ['lies in a folder that is gone', (file) => rmSync(dirname(file), { recursive: true }), (file) => void mkdirSync(dirname(file))],
    ])('reads a changed file within a second after it %s', async (_how, spoil, clear) => {
      const parent = mkdtempSync(join(tmpdir(), 'sluice-watch-'))
      const folder = join(parent, 'etc')
      mkdirSync(folder)
      const file = plain(folder)
      let reads = 0
      const seen: string[] = []
      const watched = watchFile<string>(file, 'first', {
        read(name) {
          reads += 1
          return readFileSync(name, 'utf8')
        },
        changed(text) {
          if (text === 'broken') throw new Error('broken')
          seen.push(text)
        },
        unreadable: () => seen.push('(failed)'),
      })
      onTestFinished(() => {
        watched.close()
        rmSync(parent, { recursive: true, force: true })
      })
      await vi.advanceTimersByTimeAsync(200)
      for (let round = 1; round <= 2; round += 1) {
        spoil(file)
        reads = 0
        // After a first read, the file is read again after 0.25, 0.5, 1 and 2 s. The next read would be 4 s later.
        await vi.advanceTimersByTimeAsync(5_000)
        expect(seen.at(-1)).toBe('(failed)')
        expect(reads).toBe(5)
        clear(file)
        writeFileSync(file, `text ${round}`)
        await vi.advanceTimersByTimeAsync(1_000)
        expect(seen.at(-1)).toBe(`text ${round}`)
      }
      expect(seen).toEqual(['(failed)', 'text 1', '(failed)', 'text 2'])
    })

    it('retries no sooner for what is written next to the file', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'sluice-watch-'))
      const file = plain(folder)
      let reads = 0
      const watched = watchFile<string>(file, 'first', {
        read() {
          reads += 1
          throw new Error('broken')
        },
        changed: () => {},
        unreadable: () => {},
      })
      onTestFinished(() => {
        watched.close()
        rmSync(folder, { recursive: true, force: true })
      })
      for (let step = 0; step < 100; step += 1) {
        writeFileSync(join(folder, 'access.log'), `${step}`)
        // Simulated time does not matter here: the system reports the change only in a turn of the real event loop.
        await new Promise<void>((resolve) => setImmediate(resolve))
        await vi.advanceTimersByTimeAsync(50)
      }
      // The first read is after 0.1 s. The next ones follow after 0.25, 0.5, 1 and 2 s.
      expect(reads).toBe(5)
    })
  })
})
