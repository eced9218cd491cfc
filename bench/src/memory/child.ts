import { runMeasurement } from '../run-measurement.ts'
import { holdAlgorithm } from './algorithms-hold.ts'
import { compareAlgorithms } from './algorithms-lanes.ts'
import { compareAsync, compareHotKey } from './hot-lanes.ts'
import { holdKeys } from './keys-hold.ts'
import { compareKeys } from './keys-lanes.ts'
import { auditPeers } from './peer-audit.ts'
import { holdPeer } from './peer-hold.ts'
import { compareRules } from './rules-lanes.ts'

/** The measurements of the suite `memory` that run in processes of their own. */
await runMeasurement(
  new Map<string, (input: never) => Promise<unknown>>([
    ['hot', compareHotKey],
    ['async', compareAsync],
    ['keys', compareKeys],
    ['hold', holdKeys],
    ['rules', compareRules],
    ['algorithms', compareAlgorithms],
    ['algorithm-hold', holdAlgorithm],
    ['peer-audit', auditPeers],
    ['peer-hold', holdPeer],
  ]),
)
