import { describe, expect, it } from 'vitest'
import { isBot } from '../../src/identity/bot.ts'

describe('programs by their own word', () => {
  it.each([
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0) Chrome/116.0 Safari/537.36',
    'Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)',
    'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)',
    'ClaudeBot/1.0',
    'facebookexternalhit/1.1',
    'Mozilla/5.0 (compatible; Baiduspider/2.0)',
    'curl/8.5.0',
    'Wget/1.21',
    'python-httpx/0.27',
    'Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/125.0',
    'MyCompany-Crawler',
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot',
    'anthropic-ai/1.0',
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Perplexity-User/1.0; +https://perplexity.ai/perplexity-user)',
    'Mozilla/5.0 (compatible; Claude-User/1.0; +Claude-User@anthropic.com)',
    'meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)',
    'Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534+ (KHTML, like Gecko) BingPreview/1.0b',
    'Mozilla/5.0 (compatible; Google-InspectionTool/1.0)',
    'APIs-Google (+https://developers.google.com/webmasters/APIs-Google.html)',
    'ia_archiver (+http://www.alexa.com/site/help/webmasters; crawler@alexa.com)',
    'archive.org_bot',
    'Go-http-client/2.0',
    'python-requests/2.32',
    'PostmanRuntime/7.39',
    'SkypeUriPreview Preview/0.5',
    'Uptime-Kuma/1.23',
    'NetcraftSurveyAgent/1.0; netcraft',
  ])('%s is one', (text) => {
    expect(isBot(text)).toBe(true)
  })

  it.each([
    '',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0 Safari/537.36',
    'Mozilla/5.0 (Linux; Android 9; CUBOT X19) AppleWebKit/537.36 Chrome/125.0 Mobile Safari/537.36',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1',
    'Robotics/1.0 botany spiderman',
    'ChatGPT/1.2025.035 (iOS 18.3; iPhone16,1; build 13189577)',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 [Pinterest/iOS]',
    'okhttp/4.12',
    'Google-Chrome user anthropic claude',
    `${' '.repeat(2_000)}curl/8`,
  ])('%j is not one', (text) => {
    expect(isBot(text)).toBe(false)
  })
})
