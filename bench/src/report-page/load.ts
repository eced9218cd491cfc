/**
 * Unpacks the sections with the tables, the data of the plots and the script that draws them, and runs that script. The present script is
 * small, so it is not packed. If nothing were packed, the page would be three times as large.
 */
async function load(): Promise<void> {
  element('sections').outerHTML = await unpacked('sections')
  element('charts').textContent = await unpacked('charts')
  const script = new Blob([await unpacked('page')], { type: 'text/javascript' })
  // The part of the page that the address names was not there when the browser looked for it.
  if (location.hash !== '') document.getElementById(location.hash.slice(1))?.scrollIntoView()
  await import(URL.createObjectURL(script))
}

async function unpacked(id: string): Promise<string> {
  const bytes = Uint8Array.from(atob(element(id).textContent), (letter) => letter.charCodeAt(0))
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text()
}

function element(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the report has no #${id}`)
  return found
}

load().catch((error: unknown) => {
  const words = document.createElement('p')
  words.textContent = `This browser cannot show the report: ${String(error)}. The file report.md next to it has the same tables.`
  document.querySelector('main')?.append(words)
  throw error
})
