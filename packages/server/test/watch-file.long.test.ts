import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type WatchedFile, watchFile } from '../src/files/watch-file.ts'

interface Watching {
  readonly folder: string
  readonly file: string
  readonly seen: string[]
  readonly watched: WatchedFile
}

function watching(prepare: (folder: string) => string): Watching {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-watch-'))
  const file = prepare(folder)
  const seen: string[] = []
  const watched = watchFile<string>(file, 'first', {
    read: (name) => readFileSync(name, 'utf8'),
    changed: (text) => void seen.push(text),
    unreadable: () => seen.push('(gone)'),
  })
  onTestFinished(() => {
    watched.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { folder, file, seen, watched }
}

const plain = (folder: string): string => {
  writeFileSync(join(folder, 'p.yaml'), 'first')
  return join(folder, 'p.yaml')
}
/** Makes files as Kubernetes mounts a ConfigMap: p.yaml is a link to ..data/p.yaml, and ..data is a link to the folder of a version. */
const mounted = (folder: string): string => {
  mkdirSync(join(folder, '..v1'))
  writeFileSync(join(folder, '..v1', 'p.yaml'), 'first')
  symlinkSync('..v1', join(folder, '..data'))
  symlinkSync(join('..data', 'p.yaml'), join(folder, 'p.yaml'))
  return join(folder, 'p.yaml')
}
const elsewhere = (folder: string): string => {
  mkdirSync(join(folder, 'a'))
  mkdirSync(join(folder, 'b'))
  writeFileSync(join(folder, 'b', 'real.yaml'), 'first')
  symlinkSync(join('..', 'b', 'real.yaml'), join(folder, 'a', 'p.yaml'))
  return join(folder, 'a', 'p.yaml')
}

describe('a watched file', () => {
  it.each<[string, (folder: string) => string, (watching: Watching, text: string) => void]>([
    ['written in place', plain, ({ file }, text) => writeFileSync(file, text)],
    [
      'replaced by a rename',
      plain,
      ({ folder, file }, text) => {
        writeFileSync(join(folder, 'p.yaml~'), text)
        renameSync(join(folder, 'p.yaml~'), file)
      },
    ],
    [
      'moved away and written anew',
      plain,
      ({ file }, text) => {
        renameSync(file, `${file}.bak`)
        writeFileSync(file, text)
      },
    ],
    [
      'mounted, and the link of its folder set to another',
      mounted,
      ({ folder }, text) => {
        const version = `..v${text}`
        mkdirSync(join(folder, version))
        writeFileSync(join(folder, version, 'p.yaml'), text)
        symlinkSync(version, join(folder, '..tmp'))
        renameSync(join(folder, '..tmp'), join(folder, '..data'))
      },
    ],
    ['written behind a link in another folder', elsewhere, ({ folder }, text) => writeFileSync(join(folder, 'b', 'real.yaml'), text)],
  ])('is read again when it is %s, each time', async (_how, prepare, change) => {
    const found = watching(prepare)
    for (const text of ['second', 'third!', 'fourth']) {
      change(found, text)
      await expect.poll(() => found.seen.at(-1)).toBe(text)
    }
    expect(found.seen).toEqual(['second', 'third!', 'fourth'])
  })

  it('is read again when it changed before it was watched', async () => {
    const { seen } = watching((folder) => {
      writeFileSync(join(folder, 'p.yaml'), 'already another')
      return join(folder, 'p.yaml')
    })
    await expect.poll(() => seen).toEqual(['already another'])
  })

  it('is one change when it is written in several steps', async () => {
    const { file, seen } = watching(plain)
    for (let step = 0; step < 5; step += 1) writeFileSync(file, `step ${step}`)
    await expect.poll(() => seen).toEqual(['step 4'])
  })

  it('is reported once when it is gone, and again when it is back', async () => {
    const { file, seen } = watching(plain)
    unlinkSync(file)
    await expect.poll(() => seen).toEqual(['(gone)'])
    writeFileSync(file, 'first')
    await expect.poll(() => seen).toEqual(['(gone)', 'first'])
  })

  it('is reported once when its name cannot be followed, and again when it can', async () => {
    const { folder, file, seen } = watching(plain)
    symlinkSync('p.yaml', join(folder, 'itself'))
    renameSync(join(folder, 'itself'), file)
    await expect.poll(() => seen).toEqual(['(gone)'])
    writeFileSync(join(folder, 'next'), 'second')
    renameSync(join(folder, 'next'), file)
    await expect.poll(() => seen).toEqual(['(gone)', 'second'])
  })

  it('is tried again more seldom where it cannot be taken in, and at once when it changes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-watch-'))
    const file = plain(folder)
    const tries: number[] = []
    let broken = true
    const watched = watchFile<string>(file, 'before', {
      read: (name) => readFileSync(name, 'utf8'),
      changed(text) {
        tries.push(performance.now())
        if (broken) throw new Error(`not now: ${text}`)
      },
      unreadable: () => {},
    })
    onTestFinished(() => {
      watched.close()
      rmSync(folder, { recursive: true, force: true })
    })
    await expect.poll(() => tries.length, { timeout: 10_000 }).toBe(4)
    const [first = 0, second = 0, third = 0, fourth = 0] = tries
    // A timer never fires early. Each of these was set after the previous one had fired, so the pauses add up.
    expect([second - first >= 249, third - second >= 499, fourth - third >= 999]).toEqual([true, true, true])
    broken = false
    writeFileSync(file, 'mended')
    await expect.poll(() => tries.length).toBeGreaterThan(4)
  })

  it('is read on demand, changed or not', () => {
    const { seen, watched } = watching(plain)
    watched.read()
    expect(seen).toEqual(['first'])
  })

  it('R13: is read when it changes, whatever is written next to it all the time', async () => {
    const { folder, file, seen } = watching(plain)
    const log = setInterval(() => writeFileSync(join(folder, 'access.log'), `${performance.now()}`), 20)
    try {
      for (const text of ['second', 'third!']) {
        writeFileSync(file, text)
        await expect.poll(() => seen.at(-1)).toBe(text)
      }
    } finally {
      clearInterval(log)
    }
  })

  it('R13: is read though it is written all the time itself', async () => {
    const { file, seen } = watching(plain)
    let written = 0
    const writer = setInterval(() => writeFileSync(file, `text ${(written += 1)}`), 20)
    try {
      await expect.poll(() => seen.length).toBeGreaterThan(0)
    } finally {
      clearInterval(writer)
    }
    await expect.poll(() => seen.at(-1)).toBe(`text ${written}`)
  })

  it.each(['read', 'taken in'])('R13: is tried again where it could not be %s, though nothing changes any more', async (what) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-watch-'))
    const file = plain(folder)
    const seen: string[] = []
    let failures = 0
    const failSome = (): void => {
      failures += 1
      if (failures <= 3) throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })
    }
    const watched = watchFile<string>(file, 'first', {
      read(name) {
        const text = readFileSync(name, 'utf8')
        if (text === 'second' && what === 'read') failSome()
        return text
      },
      changed(text) {
        if (what === 'taken in') failSome()
        seen.push(text)
      },
      unreadable: ({ message }) => seen.push(message),
    })
    onTestFinished(() => {
      watched.close()
      rmSync(folder, { recursive: true, force: true })
    })
    writeFileSync(file, 'second')
    await expect.poll(() => seen, { timeout: 10_000 }).toEqual(['EMFILE: too many open files', 'second'])
  })
})
