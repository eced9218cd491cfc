import { posix } from 'node:path'

const LINK = /(!?)\[((?:[^\][]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g
const FENCE = /(^[ \t]*(?:```|~~~)[^]*?^[ \t]*(?:```|~~~)[^\n]*$)/m

/**
 * A Markdown text with links that work in a published package. A link to a file that is not in the package becomes a link to the repository,
 * or only its text if the repository is not known.
 * @param file where the text is in the repository
 * @param has whether a file of the repository is in the package, at the same path
 * @param repository the address of the repository's files at this version, or an empty text
 */
export function withLinks(text: string, file: string, has: (file: string) => boolean, repository: string): string {
  const linked = (whole: string, image: string, words: string, target: string): string => {
    if (/^(?:[a-z]+:|#)/i.test(target)) return whole
    const [path = '', heading] = target.split('#')
    const aim = posix.join(posix.dirname(file), path)
    if (has(aim)) return whole
    if (repository === '') return image === '' ? words : ''
    return `${image}[${words}](${repository}/${aim}${heading === undefined ? '' : `#${heading}`})`
  }
  // A link may begin on one line and end on the next one. Every other part is a fence.
  return text
    .split(FENCE)
    .map((part, index) => (index % 2 === 0 ? part.replace(LINK, linked) : part))
    .join('')
}
