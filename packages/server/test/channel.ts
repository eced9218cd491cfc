/** Messages that arrive in order, whenever `deliver` is called. */
export function channel<M>(receive: (message: M) => void): { send: (message: M) => void; deliver: () => boolean } {
  const messages: M[] = []
  return {
    send: (message) => void messages.push(message),
    deliver() {
      const message = messages.shift()
      if (message === undefined) return false
      receive(message)
      return true
    },
  }
}
