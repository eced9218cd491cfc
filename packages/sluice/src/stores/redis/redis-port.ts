/**
 * What the store needs of a client library: three methods. An adapter per library fulfils it; nothing is guessed from a
 * client's constructor. Replies are as the library parses them; errors pass through unchanged.
 */
export interface RedisPort {
  evalsha(sha1: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  eval(source: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  del(keys: readonly string[]): Promise<unknown>
}
