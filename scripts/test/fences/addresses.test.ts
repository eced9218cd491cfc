import { describe, expect, it } from 'vitest'
import { enginesIn, portsIn, withAddresses, withNamedPorts } from '../../src/fences/addresses.ts'

describe('addresses of a document', () => {
  const text = `curl http://127.0.0.1:8080/a; PORT=9000 npm start; sluice serve --store redis://localhost:6379 --listen localhost:8080`

  it('finds ports and engines', () => {
    expect(portsIn(text)).toEqual([8080, 9000])
    expect(enginesIn(text)).toEqual(['redis'])
    expect(enginesIn('postgres://me:secret@127.0.0.1:5432/app redis://127.0.0.1:6379/2')).toEqual(['redis', 'postgres'])
    expect(enginesIn('redis://redis.example:6379 postgres://db.example/app')).toEqual([])
  })

  it('puts those of the run in their place, and back in what was printed', () => {
    const addresses = {
      engines: new Map([['redis', 'redis://127.0.0.1:40001'] as const]),
      ports: new Map([
        [8080, 40_002],
        [9000, 40_003],
      ]),
    }
    const here = withAddresses(text, addresses)
    expect(here).toBe(
      `curl http://127.0.0.1:40002/a; PORT=40003 npm start; sluice serve --store redis://127.0.0.1:40001 --listen localhost:40002`,
    )
    expect(withNamedPorts('listens on 127.0.0.1:40002, 140002', addresses)).toBe('listens on 127.0.0.1:8080, 140002')
    expect(withAddresses('80800 18080 postgres://127.0.0.1:5432/app', addresses)).toBe('80800 18080 postgres://127.0.0.1:5432/app')
  })
})
