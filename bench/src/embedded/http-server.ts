import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLimiter } from 'sluice'
import { type NodeOptions, rateLimit } from 'sluice/node'
import { ALLOWED, DENIED, limitOf, type Profile } from './profiles.ts'

type Headers = NodeOptions<never, never>['headers']

/** `http-server.js bare | async | fields JSON | default | off | denied`: a server of one answer, with or without a limit in front. */
const [kind = '', input = '[]'] = process.argv.slice(2)

const server = createServer(listenerOf(kind))
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})

function listenerOf(name: string): RequestListener {
  switch (name) {
    case 'bare':
      return (_request, response) => void response.end('ok')
    case 'async': {
      const pass = async (): Promise<boolean> => true
      return (_request, response) => void pass().then(() => response.end('ok'))
    }
    case 'fields': {
      const fields = JSON.parse(input) as [name: string, value: string][]
      return (_request, response) => {
        for (const [field, value] of fields) response.setHeader(field, value)
        response.end('ok')
      }
    }
    case 'default':
      return limited(ALLOWED)
    case 'off':
      return limited(ALLOWED, { dialect: 'off', limit: false, remaining: false })
    case 'denied':
      return limited(DENIED)
    default:
      throw new Error(`no server is called ${name}`)
  }
}

function limited(profile: Profile, headers?: Headers): RequestListener {
  const limiter = createLimiter({ name: 'api', limit: limitOf(profile) })
  const limit = rateLimit({ limiter, ...(headers === undefined ? {} : { headers }) })
  return (request, response) => {
    void limit(request, response).then((passed) => (passed ? response.end('ok') : undefined))
  }
}
