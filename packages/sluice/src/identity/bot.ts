/** Programs name themselves at the beginning. */
const MAX_LENGTH = 1_024

const wordsOf = (text: string): string[] => text.trim().split(/\s+/)

/** Words that end in bot, crawler or spider count too. */
const WORDS: ReadonlySet<string> = new Set(
  wordsOf(`
  ahrefssiteaudit aiohttp apachebench archiver axios bingpreview bot colly crawler curl datadog deepcrawl
  diffbot embedly facebookcatalog facebookexternalhit faraday feedburner feedfetcher feedly fetcher
  flipboardproxy freshping googleother grapeshot gtmetrix guzzlehttp headlesschrome heritrix hetrixtools httpie
  httpx httrack iframely inoreader insomnia libcurl libwww lighthouse linkchecker lwp magpierss mechanize
  mediapartners monitoring nagios netcraft newrelicpinger nikto nmap nuclei nutch panscient phantomjs pingdom
  playwright postmanruntime puppeteer python scraper scrapy selenium seokicks sistrix sitechecker
  skypeuripreview slurp spider sqlmap statuscake typhoeus uptimerobot urllib vkshare wget whatsapp winhttp xenu
  zgrab
`),
)
/** One word of such a name would not identify a program: people use the app of ChatGPT, for example. */
const PRODUCTS: ReadonlySet<string> = new Set(
  wordsOf(`
  anthropic-ai apache-httpclient apis-google chatgpt-user claude-user claude-web cohere-ai duplexweb-google
  go-http-client google-inspectiontool google-pagerenderer google-read-aloud google-site-verification
  ia_archiver meta-externalagent meta-externalfetcher mistralai-user node-fetch perplexity-user rest-client
  slack-imgproxy uptime-kuma
`),
)
const ENDINGS = ['bot', 'crawler', 'spider']
/** Devices of people, in spite of the ending. */
const PEOPLE: ReadonlySet<string> = new Set(['cubot'])

/** Only a hint, because the client chooses the text. */
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
