/** Over HTTP/2 a fetch Request may lack the Host field. Its URL then has the host. */
export function withHost(headers: Record<string, string>, url: string): Record<string, string> {
  if (headers['host'] !== undefined) return headers
  const { host } = new URL(url)
  return host === '' ? headers : { ...headers, host }
}
