/** The account may not call the command, or the server's version does not have it in this form. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && /^(?:NOPERM|ERR (?:unknown (?:command|subcommand)|wrong number of arguments))/i.test(error.message)
}

/** If the server refuses the command, resolves with undefined and adds the command to `refused`. */
export async function allowed<T>(reply: Promise<T>, command: string, refused: Set<string>): Promise<T | undefined> {
  return reply.catch((error: unknown) => {
    if (!isRefusal(error)) throw error
    refused.add(command)
    return undefined
  })
}
