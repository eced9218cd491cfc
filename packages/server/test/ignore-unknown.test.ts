import { describe, expect, it } from 'vitest'
import { ignoreUnknown, unknownKind } from '../src/workers/ignore-unknown.ts'

interface Removal {
  readonly kind: 'removal'
  readonly keys: readonly string[]
}

describe('messages of a process with another version', () => {
  it('are ignored if their kind or their shape is unknown, each kind with one line, and later messages are handled', () => {
    const [handled, lines]: [string[], string[]] = [[], []]
    const receive = ignoreUnknown<Removal, number>(
      (message, from) => {
        if (message.kind !== 'removal') return unknownKind(message as never)
        for (const key of message.keys) handled.push(`${from} ${key}`)
      },
      (level, event, line) => void lines.push(`${level} ${event} ${line}`),
    )
    const unknown = [{ kind: 'later' }, { kind: 'removal', key: 'a' }, { kind: 'later' }, { kind: 'removal' }]
    for (const message of unknown) receive(message as never, 1)
    receive({ kind: 'removal', keys: ['a', 'b'] }, 2)
    expect(handled).toEqual(['2 a', '2 b'])
    expect(lines).toEqual([
      expect.stringMatching(/^error message-ignored ignores messages "later" .*the kind "later" is unknown; .*restart the whole service$/),
      expect.stringMatching(/^error message-ignored ignores messages "removal" .*TypeError.*not iterable/),
    ])
  })
})
