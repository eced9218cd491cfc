import { algorithms } from '../memory/algorithms.ts'
import { hot } from '../memory/hot.ts'
import { keys } from '../memory/keys.ts'
import { peersHeld } from '../memory/peers-held.ts'
import { peers } from '../memory/peers.ts'
import { rules } from '../memory/rules.ts'
import { size } from '../memory/size.ts'
import type { Suite } from './suite.ts'

/** Measures the memory store and the policy engine. */
export const memory: Suite = {
  name: 'memory',
  title: 'the limiter in this process',
  summary: 'the memory store and other libraries, the policy engine, memory and pauses, and the library’s size',
  parts: [hot, peers, peersHeld, keys, algorithms, rules, size],
  seconds: { quick: 0.6, full: 2 },
}
