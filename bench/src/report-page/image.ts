/**
 * Makes a drawn plot one image with a name. The library names each group of marks, which is not allowed within an image, and adds a style
 * sheet to each plot. The style sheet is removed, because hundreds of them make the page slow, and page.css has the same rules.
 */
export function asImage<Drawn extends Element>(drawn: Drawn, name: string): Drawn {
  for (const group of drawn.querySelectorAll<SVGElement>('[aria-label]')) {
    group.dataset['mark'] = group.getAttribute('aria-label') ?? ''
    group.removeAttribute('aria-label')
  }
  for (const style of drawn.querySelectorAll('style')) style.remove()
  drawn.setAttribute('role', 'img')
  drawn.setAttribute('aria-label', name)
  return drawn
}
