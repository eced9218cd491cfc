/** The name of the figure that compares Sluice with another limiter under a load of the part `peers`. Documents quote such figures. */
export function peerReadingName(ours: string, other: string, load: { readonly title: string; readonly at: string }): string {
  return `${ours}, against ${other}, ${load.title}, ${load.at}`
}

/** The load with the same key for all, which README quotes. */
export const HOT_LOAD = { title: 'one hot key', at: '64 callers' } as const
