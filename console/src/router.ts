/** Pages are fragments of the address (`#/keys`): the server knows one page only, at whatever path a proxy has it. */
import { signal } from '@preact/signals'

export const PAGES = ['playground', 'keys', 'usage', 'people', 'models', 'health'] as const
export type Page = (typeof PAGES)[number]

/** Those that only an admin sees. */
export const ADMIN_PAGES: readonly Page[] = ['people', 'models', 'health']

function pageOf(hash: string): Page {
  const name = /^#\/([a-z]+)/.exec(hash)?.[1]
  return PAGES.find((page) => page === name) ?? 'playground'
}

export const page = signal<Page>(pageOf(location.hash))

addEventListener('hashchange', () => {
  // A link to an invitation or a start that is opened while the console is.
  if (/^#(?:invite|token)=/.test(location.hash)) location.reload()
  else page.value = pageOf(location.hash)
})
