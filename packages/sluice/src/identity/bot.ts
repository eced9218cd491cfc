/** Longer fields are read up to here: what a program says about itself stands at the beginning. */
const LONGEST = 1_024

/** Words that programs name themselves by, in lower case; beside them every word that ends in bot, crawler or spider. */
const WORDS: ReadonlySet<string> = new Set([
  'aiohttp',
  'apachebench',
  'archiver',
  'bot',
  'crawler',
  'curl',
  'facebookexternalhit',
  'fetcher',
  'feedfetcher',
  'googleother',
  'headlesschrome',
  'httpie',
  'httpx',
  'libwww',
  'lighthouse',
  'mechanize',
  'monitoring',
  'nutch',
  'phantomjs',
  'pingdom',
  'playwright',
  'puppeteer',
  'scraper',
  'scrapy',
  'selenium',
  'sitechecker',
  'slurp',
  'spider',
  'statuscake',
  'uptimerobot',
  'urllib',
  'wget',
  'whatsapp',
])
const ENDINGS = ['bot', 'crawler', 'spider']
/** Names of devices that end like one. */
const PEOPLE: ReadonlySet<string> = new Set(['cubot'])

/**
 * Whether a User-Agent says of itself that it is a program without a person: a hint, since it is the client's own word. Reads each
 * character once, whatever it holds.
 */
export function isBot(userAgent: string): boolean {
  for (const word of userAgent
    .slice(0, LONGEST)
    .toLowerCase()
    .split(/[^a-z]/)) {
    if (WORDS.has(word)) return true
    if (ENDINGS.some((ending) => word.endsWith(ending)) && !PEOPLE.has(word)) return true
  }
  return false
}
