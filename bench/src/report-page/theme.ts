/**
 * Buttons that choose between light and dark colours; at first the colours are those of the system. Plots have their colours from the
 * style sheet.
 */
const THEMES = [
  ['', 'Auto'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const

export function showThemes(): void {
  const group = document.getElementById('themes')
  if (group === null) return
  const buttons = THEMES.map(([theme, text]) => {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = text
    button.addEventListener('click', () => choose(theme))
    return button
  })
  const choose = (theme: string): void => {
    if (theme === '') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = theme
    for (const [index, button] of buttons.entries()) button.ariaPressed = String(THEMES[index]?.[0] === theme)
  }
  choose('')
  group.append(...buttons)
  group.hidden = false
}
