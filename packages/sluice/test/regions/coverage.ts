/** What occurred in histories. */
export interface Coverage {
  partitions: number
  oneWay: number
  losses: number
  restores: number
  deaths: number
  adopted: number
  transfers: number
  /** How often units of a key were sent while other units of the same key were on their way. */
  overlapping: number
  /** Transfers of cells that are not divided (R8). */
  whole: number
  /** Histories in which units were sent under two limits, of which only one is divided among regions. */
  mixed: number
  eras: number
  rollouts: number
  steps: number
  /** Cells for which the limit was reached exactly. */
  reached: number
}

export function newCoverage(): Coverage {
  return {
    partitions: 0,
    oneWay: 0,
    losses: 0,
    restores: 0,
    deaths: 0,
    adopted: 0,
    transfers: 0,
    overlapping: 0,
    whole: 0,
    mixed: 0,
    eras: 0,
    rollouts: 0,
    steps: 0,
    reached: 0,
  }
}
