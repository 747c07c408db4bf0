/** What is on the screen: a way in, or the shell with a page in it. Pages other than the playground are loaded when they are opened. */
import type { ComponentType } from 'preact'
import { lazy, Suspense } from 'preact/compat'
import { Announcer } from './ui/announce.tsx'
import { PageHead } from './ui/parts.tsx'
import { Loading, Problem } from './ui/states.tsx'
import { Entry } from './pages/entry/entry.tsx'
import { Playground } from './pages/playground/playground.tsx'
import { ADMIN_PAGES, page } from './router.ts'
import { entry, session } from './session.ts'
import { Shell } from './shell.tsx'

/** A script that did not come is not asked for again, and may be that of an older version: all is loaded anew then. */
const lazyPage = (load: () => Promise<{ default: ComponentType }>) =>
  lazy(() => load().catch(() => ({ default: NotLoaded })))

const Keys = lazyPage(() => import('./pages/keys/keys.tsx'))
const Usage = lazyPage(() => import('./pages/usage/usage.tsx'))
const People = lazyPage(() => import('./pages/people/people.tsx'))
const Models = lazyPage(() => import('./pages/models/models.tsx'))
const Health = lazyPage(() => import('./pages/health/health.tsx'))

function NotLoaded() {
  return (
    <div class="page">
      <PageHead title="Page not loaded" />
      <Problem
        error="This page could not be loaded: the server may be away, or may have been updated."
        onRetry={() => location.reload()}
      />
    </div>
  )
}

function Current() {
  const name = page.value
  if (ADMIN_PAGES.includes(name) && session.value?.role !== 'admin') return <Playground />
  switch (name) {
    case 'playground':
      return <Playground />
    case 'keys':
      return <Keys />
    case 'usage':
      return <Usage />
    case 'people':
      return <People />
    case 'models':
      return <Models />
    case 'health':
      return <Health />
  }
}

export function App() {
  const isInside = entry.value.kind === 'inside' && session.value !== null
  return (
    <>
      {isInside ? (
        <Shell>
          <Suspense
            fallback={
              <div class="page">
                <Loading what="the page" />
              </div>
            }
          >
            <Current />
          </Suspense>
        </Shell>
      ) : (
        <Entry />
      )}
      <Announcer />
    </>
  )
}
