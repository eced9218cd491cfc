/** Longer fields are read up to here: what a program says about itself stands at the beginning. */
const MAX_LENGTH = 1_024

/** Words that programs name themselves by, in lower case; also every word that ends in bot, crawler or spider. */
const WORDS: ReadonlySet<string> = new Set([
  'ahrefssiteaudit',
  'aiohttp',
  'apachebench',
  'archiver',
  'axios',
  'bingpreview',
  'bot',
  'colly',
  'crawler',
  'curl',
  'datadog',
  'deepcrawl',
  'diffbot',
  'embedly',
  'facebookcatalog',
  'facebookexternalhit',
  'faraday',
  'feedburner',
  'feedfetcher',
  'feedly',
  'fetcher',
  'flipboardproxy',
  'freshping',
  'googleother',
  'grapeshot',
  'gtmetrix',
  'guzzlehttp',
  'headlesschrome',
  'heritrix',
  'hetrixtools',
  'httpie',
  'httpx',
  'httrack',
  'iframely',
  'inoreader',
  'insomnia',
  'libcurl',
  'libwww',
  'lighthouse',
  'linkchecker',
  'lwp',
  'magpierss',
  'mechanize',
  'mediapartners',
  'monitoring',
  'nagios',
  'netcraft',
  'newrelicpinger',
  'nikto',
  'nmap',
  'nuclei',
  'nutch',
  'panscient',
  'phantomjs',
  'pingdom',
  'playwright',
  'postmanruntime',
  'puppeteer',
  'python',
  'scraper',
  'scrapy',
  'selenium',
  'seokicks',
  'sistrix',
  'sitechecker',
  'skypeuripreview',
  'slurp',
  'spider',
  'sqlmap',
  'statuscake',
  'typhoeus',
  'uptimerobot',
  'urllib',
  'vkshare',
  'wget',
  'whatsapp',
  'winhttp',
  'xenu',
  'zgrab',
])
/** Names of several words, of which none says it alone: ChatGPT is also what people use. */
const PRODUCTS: ReadonlySet<string> = new Set([
  'anthropic-ai',
  'apache-httpclient',
  'apis-google',
  'chatgpt-user',
  'claude-user',
  'claude-web',
  'cohere-ai',
  'duplexweb-google',
  'go-http-client',
  'google-inspectiontool',
  'google-pagerenderer',
  'google-read-aloud',
  'google-site-verification',
  'ia_archiver',
  'meta-externalagent',
  'meta-externalfetcher',
  'mistralai-user',
  'node-fetch',
  'perplexity-user',
  'rest-client',
  'slack-imgproxy',
  'uptime-kuma',
])
const ENDINGS = ['bot', 'crawler', 'spider']
/** Names of devices that end like one. */
const PEOPLE: ReadonlySet<string> = new Set(['cubot'])

/**
 * Whether a User-Agent says of itself that it is a program without a person: a hint, since it is the client's own word. Reads each
 * character once, whatever it holds.
 */
export function isBot(userAgent: string): boolean {
  const products = userAgent
    .slice(0, MAX_LENGTH)
    .toLowerCase()
    .split(/[^a-z_-]/)
  return products.some((product) => PRODUCTS.has(product) || product.split(/[_-]/).some(isProgram))
}

function isProgram(word: string): boolean {
  return WORDS.has(word) || (ENDINGS.some((ending) => word.endsWith(ending)) && !PEOPLE.has(word))
}
