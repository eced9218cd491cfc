/**
 * What the store needs of a client library. An adapter per library fulfils it; nothing is guessed from a client's constructor.
 * Of a reply, whole numbers are numbers, null is null, and text is bytes (a Uint8Array), for values are no text; errors pass
 * through unchanged.
 */
export interface RedisPort {
  evalsha(sha1: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  eval(source: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
}
