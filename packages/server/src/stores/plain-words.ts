import { withoutPassword, withoutSecrets } from './store-name.ts'

const MAX_LENGTH = 300

/** The first entry that fits the error of the Redis or PostgreSQL client. `$<at>`: the address in that error. NAME: the store's URL. */
const MEANINGS: readonly (readonly [said: RegExp, means: string])[] = [
  [/ECONNREFUSED (?<at>\S+)/, 'nothing listens at $<at> (ECONNREFUSED)'],
  [/ECONNREFUSED/, 'nothing listens there (ECONNREFUSED)'],
  [/ENOTFOUND (?<at>\S+)/, 'the host name $<at> is unknown (ENOTFOUND)'],
  [/EAI_AGAIN (?<at>\S+)/, 'the name servers do not answer for $<at> (EAI_AGAIN)'],
  [/E(?:HOST|NET)UNREACH (?<at>\S+)/, 'no route leads to $<at>'],
  [/connect ETIMEDOUT|timeout exceeded when trying to connect|connection timeout/i, 'no connection to NAME could be made in time'],
  [/Socket timeout/, 'NAME sent nothing for a second, and its connection was closed'],
  [/ECONNRESET|EPIPE|Connection terminated|socket hang ?up/i, 'the connection to NAME was closed by the other side'],
  [/None of startup nodes|Failed to refresh slots/, 'no node of the cluster answers'],
  [/All sentinels are unreachable/, 'no sentinel answers'],
  [
    /Stream isn't writeable|Connection is closed|isn't ready|max retries per request|client is (?:offline|closed)|Connection ended|after calling end/i,
    'the connection to NAME is not open',
  ],
  [/no answer by the deadline, and no connection was there/, 'no answer in time, because no connection was free'],
  [/no answer by the deadline/, 'no answer in time'],
  [/Query read timeout/i, 'no answer in time'],
]

/**
 * Returns one line without the URL's password.
 * @param url of the store
 */
export function plainWords(message: string, url: string): string {
  const name = withoutPassword(url)
  for (const [said, means] of MEANINGS) {
    const found = said.exec(message)
    if (found !== null) return means.replace('$<at>', () => found.groups?.['at'] ?? '').replace('NAME', () => name)
  }
  const [line = ''] = withoutSecrets(message, url).split('\n')
  return line.slice(0, MAX_LENGTH)
}
