import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningProcess as Running, serveBuilt as serve } from './command.ts'
import { exchange } from './raw.ts'

describe('what is not HTTP', () => {
  let service: Running
  beforeAll(async () => {
    service = await serve(['--demo'])
  })
  afterAll(async () => {
    expect(await (await fetch(`${service.url}/livez`)).text()).toBe('ok\n')
    expect(await service.stop()).toBe(0)
  })

  it.each([
    ['nonsense\r\n\r\n', 400],
    ['\u0000\u0001\u0002', 400],
    ['GET\r\n\r\n', 400],
    ['GET / HTTP/9.9\r\n\r\n', 400],
    ['POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n', 400],
    ['GET / HTTP/1.1\r\nHost: localhost\r\nA B: c\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('is refused and the connection closed: $0', async (text, status) => {
    const answer = await exchange(service.url, text)
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(answer).toContain('Content-Type: application/problem+json')
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ status })
  })

  it('is not answered in the place of the good request before it', async () => {
    const body = '{"path":"/"}'
    const good = `POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    expect(await exchange(service.url, `${good}nonsense\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('does not end up inside an answer that has begun', async () => {
    const answer = await exchange(service.url, 'GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n', 'nonsense\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(answer).not.toContain('400')
  })
})
