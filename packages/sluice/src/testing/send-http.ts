import { Agent, request } from 'node:http'

/** Header names are in lower case. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
  /** Whether the connection was used for an earlier response. */
  readonly reused: boolean
}

export interface HttpRequest {
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly agent?: Agent
}

/** Rejects if the connection breaks. */
export function sendRequest(url: string, options: HttpRequest = {}): Promise<HttpAnswer> {
  const { path = '/', method = 'GET', headers = {}, body, agent = false } = options
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { method, headers, agent }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const { statusCode: status = 0, headers: fields } = response
        resolve({ status, headers: fields, text: Buffer.concat(chunks).toString(), reused: sent.reusedSocket })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

export function oneConnection(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 })
}
