/** What stands around every page: the ways between them, whose session it is, and a line when the server cannot be reached. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { isReachable } from './api/client.ts'
import mark from './mark.svg'
import { AccountDialog } from './pages/entry/account.tsx'
import { ADMIN_PAGES, page, type Page, PAGES } from './router.ts'
import { entry, session } from './session.ts'
import { Dialog } from './ui/dialog.tsx'
import { Icon } from './ui/icons.tsx'

const NAMES: Readonly<Record<Page, string>> = {
  playground: 'Playground',
  keys: 'Keys',
  usage: 'Usage',
  people: 'People',
  models: 'Models',
  health: 'Health',
}

const OWN_PAGES = PAGES.filter((name) => !ADMIN_PAGES.includes(name))

export function Shell({ children }: { readonly children: ComponentChildren }) {
  const [isAccountOpen, setAccountOpen] = useState(false)
  const [isMoreOpen, setMoreOpen] = useState(false)
  const openAccount = () => {
    setMoreOpen(false)
    setAccountOpen(true)
  }
  return (
    <div class="shell">
      <Side onAccount={openAccount} />
      <main class="main" id="main">
        <div role="status">
          {!isReachable.value && (
            <div class="banner">The server cannot be reached. What you see may be out of date.</div>
          )}
        </div>
        {children}
      </main>
      <nav class="bottom" aria-label="Pages">
        {OWN_PAGES.map((name) => (
          <PageLink key={name} name={name} />
        ))}
        <button
          type="button"
          aria-haspopup="dialog"
          {...(ADMIN_PAGES.includes(page.value) && { 'aria-current': 'true' })}
          onClick={() => setMoreOpen(true)}
        >
          <Icon name="more" />
          More
        </button>
      </nav>
      {isMoreOpen && <More onClose={() => setMoreOpen(false)} onAccount={openAccount} />}
      {isAccountOpen && <AccountDialog onClose={() => setAccountOpen(false)} />}
    </div>
  )
}

function PageLink({ name, onClick }: { readonly name: Page; readonly onClick?: () => void }) {
  return (
    <a href={`#/${name}`} {...(page.value === name && { 'aria-current': 'page' })} onClick={onClick}>
      <Icon name={name} />
      {NAMES[name]}
    </a>
  )
}

function PageList({ names, onClick }: { readonly names: readonly Page[]; readonly onClick?: () => void }) {
  return (
    <ul class="nav">
      {names.map((name) => (
        <li key={name}>
          <PageLink name={name} {...(onClick !== undefined && { onClick })} />
        </li>
      ))}
    </ul>
  )
}

function Side({ onAccount }: { readonly onAccount: () => void }) {
  return (
    <header class="side">
      <div class="brand">
        <img src={mark} alt="" />
        Sluice
      </div>
      <nav class="stack" aria-label="Pages">
        <PageList names={OWN_PAGES} />
        {session.value?.role === 'admin' && (
          <div>
            <div class="nav-title">Server</div>
            <PageList names={ADMIN_PAGES} />
          </div>
        )}
      </nav>
      <div class="side-end">
        <Who />
        <button type="button" class="button small" aria-haspopup="dialog" onClick={onAccount}>
          Account and display
        </button>
        <a class="small muted center" href="docs" target="_blank" rel="noopener">
          API documentation
        </a>
      </div>
    </header>
  )
}

function Who() {
  const { kind = 'open', email = null, tier = 'free', role = 'user' } = session.value ?? {}
  if (kind === 'guest') {
    return (
      <div class="who">
        <span>Guest</span>
        <button type="button" class="link" onClick={() => (entry.value = { kind: 'welcome' })}>
          Make the admin account
        </button>
      </div>
    )
  }
  return (
    <div class="who">
      <span title={email ?? undefined}>{kind === 'open' ? 'Open to everyone' : email}</span>
      <span class="muted">
        {tier}
        {role === 'admin' && ', admin'}
      </span>
    </div>
  )
}

interface MoreProps {
  readonly onClose: () => void
  readonly onAccount: () => void
}

/** On a phone: what the bar at the bottom has no room for. */
function More({ onClose, onAccount }: MoreProps) {
  return (
    <Dialog title="More" onClose={onClose}>
      {session.value?.role === 'admin' && (
        <nav aria-label="More pages">
          <PageList names={ADMIN_PAGES} onClick={onClose} />
        </nav>
      )}
      <Who />
      <button type="button" class="button" onClick={onAccount}>
        Account and display
      </button>
      <a href="docs" target="_blank" rel="noopener">
        API documentation
      </a>
    </Dialog>
  )
}
