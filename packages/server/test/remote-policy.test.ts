import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { LimiterError } from 'sluice'
import { type Policy, PolicyError } from 'sluice/policy'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fetchPolicy, type FetchedPolicy, type Validators } from '../src/policy/fetch-policy.ts'
import { polling } from '../src/policy/polling.ts'
import { run } from './command.ts'

const fetchedAs = (text: string): FetchedPolicy => ({ text, format: undefined, validators: { etag: text } })
const POLICY = { warnings: [], rules: [], hash: 'h', dialect: 'native' } as unknown as Policy

/**
 * Polls a text at short intervals. The text comes with an entity tag, as from an HTTP server.
 * @param loaded how many policies were taken
 */
function polled(published: { text: string }, replace: (text: string, always: boolean) => void, loaded: () => number = () => 1) {
  const lines: string[] = []
  const asked: Validators[] = []
  const watched = polling({
    name: 'https://host/p',
    async fetch(validators) {
      asked.push(validators)
      return validators.etag === published.text ? undefined : fetchedAs(published.text)
    },
    intervalMs: 2,
    first: fetchedAs('p1'),
    async replace({ text }, always) {
      replace(String(text), always)
      return POLICY
    },
    loaded,
    log: (_level, event) => void lines.push(event),
  })
  onTestFinished(() => watched.close())
  return { lines, asked, watched }
}

describe('the polling of a policy at a URL', () => {
  it('tries a policy again whose secret file was not there yet, and reports it once', async () => {
    let tries = 0
    const { lines } = polled({ text: 'p2' }, () => {
      tries += 1
      if (tries < 4) throw new LimiterError('INVALID_POLICY', 'identifiers.secretFile cannot be read')
    })
    await expect.poll(() => lines).toEqual(['policy-refused', 'policy-taken'])
    expect(tries).toBe(4)
  })

  it('does not try a policy again after a later one was taken, until it changes', async () => {
    const published = { text: 'p2' }
    let [loaded, tries] = [1, 0]
    const { asked, lines } = polled(
      published,
      (text) => {
        tries += 1
        if (text === 'p2') throw new LimiterError('INVALID_POLICY', 'identifiers.secretFile cannot be read')
      },
      () => loaded,
    )
    await expect.poll(() => tries).toBeGreaterThan(2)
    loaded += 1
    const tried = tries
    const asks = asked.length
    await expect.poll(() => asked.length).toBeGreaterThan(asks + 5)
    expect(tries).toBe(tried)
    published.text = 'p3'
    await expect.poll(() => lines).toEqual(['policy-refused', 'policy-taken'])
    published.text = 'p2'
    await expect.poll(() => tries).toBeGreaterThan(tried + 2)
  })

  it('does not try a text with mistakes again until it changes', async () => {
    const [published, tried]: [{ text: string }, string[]] = [{ text: 'bad' }, []]
    const { lines, asked } = polled(published, (text) => {
      tried.push(text)
      if (text === 'bad') throw new PolicyError([])
    })
    await expect.poll(() => asked.length).toBeGreaterThan(4)
    expect(tried).toEqual(['bad'])
    published.text = 'p2'
    await expect.poll(() => lines).toEqual(['policy-refused', 'policy-taken'])
  })

  it('loads the same text at each SIGHUP', async () => {
    const loaded: [string, boolean][] = []
    const { watched } = polled({ text: 'p1' }, (text, always) => void loaded.push([text, always]))
    for (const times of [1, 2]) {
      watched.read()
      await expect.poll(() => loaded).toEqual(Array.from({ length: times }, () => ['p1', true]))
    }
  })
})

describe('the answer with a policy', () => {
  const answered = async (head: string, body: string): Promise<unknown> => {
    const server = createServer((socket) => void socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\n${head}\r\n${body}`)))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void server.close())
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/p`)
    return (await fetchPolicy(url, { ca: undefined, token: undefined }))?.text
  }

  it('is refused if it ends by closing the connection alone, because it may be cut', async () => {
    const why = 'it sent neither Content-Length nor Transfer-Encoding: chunked'
    await expect(answered('Connection: close\r\n', 'rules:\n  - { name: a }\n')).rejects.toThrow(why)
    expect(await answered('Content-Length: 3\r\n', 'abc')).toBe('abc')
    expect(await answered('Transfer-Encoding: chunked\r\n', '3\r\nabc\r\n0\r\n\r\n')).toBe('abc')
  })
})

describe('the URL of a policy that cannot be parsed', () => {
  it.each([
    'user:hunter2secret@host:99999/x',
    'user:hunter2secret@ho st/x',
    'user:a/b?hunter2secret@host',
    'hunter2secret@host:99999/?q=a@b',
  ])('is printed without the password: https://%s', async (rest) => {
    for (const ran of [await run(['check', `https://${rest}`]), await run(['serve'], { SLUICE_POLICY: `https://${rest}` })]) {
      expect(ran.code).toBe(3)
      expect(ran.stdout + ran.stderr).not.toContain('hunter2')
    }
  })

  it('is printed without its query', async () => {
    expect((await run(['check', 'https://host:99999/x?signature'])).stderr).toContain('policy https://host:99999/x: expected https://')
  })
})
