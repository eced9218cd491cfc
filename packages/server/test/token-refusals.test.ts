import { prometheusMetrics } from 'sluice/observe'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { adminAccess } from '../src/http/admin.ts'
import { repeatedLines } from '../src/logs/repeated-lines.ts'
import type { IncomingMessage } from 'node:http'

const TOKEN = 'token-of-administration'
const request = (authorization?: string): IncomingMessage => ({ headers: { authorization } }) as unknown as IncomingMessage

describe('S7: wrong admin tokens', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('are counted, and said in one line a minute, without the token', () => {
    const lines: string[] = []
    const repeated = repeatedLines((_level, _event, line) => lines.push(line), 1)
    const { admits: admission, metrics: read } = adminAccess(TOKEN, () => repeated('wrong-token'))
    const metrics = prometheusMetrics({ read })
    for (let sent = 0; sent < 400; sent += 1) expect(admission(request('Bearer wrong-token'))).toBe(false)
    expect(admission(request())).toBe(false)
    expect(admission(request(`Bearer ${TOKEN}`))).toBe(true)
    expect(lines).toEqual(['1 request with a wrong admin token, refused with 401'])
    expect(metrics.text()).toContain('sluice_admin_refused_total{token="wrong"} 400\nsluice_admin_refused_total{token="missing"} 1\n')
    vi.advanceTimersByTime(59_999)
    expect(lines).toHaveLength(1)
    vi.advanceTimersByTime(1)
    expect(lines[1]).toBe('399 requests with a wrong admin token in the last minute, refused with 401')
    vi.advanceTimersByTime(600_000)
    expect(lines).toHaveLength(2)
    admission(request('Bearer wrong-token'))
    expect(lines).toHaveLength(3)
    expect(lines.join()).not.toContain('wrong-token')
  })
})
