/** Whether a server refused a command: the account may not call it, or this version does not have it, or not in this form. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && /^(?:NOPERM|ERR (?:unknown (?:command|subcommand)|wrong number of arguments))/i.test(error.message)
}

/** The reply, or undefined if the account may not call the command; then its name is added to `refused`. */
export async function allowed<T>(reply: Promise<T>, command: string, refused: Set<string>): Promise<T | undefined> {
  return reply.catch((error: unknown) => {
    if (!isRefusal(error)) throw error
    refused.add(command)
    return undefined
  })
}
