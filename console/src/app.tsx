/** What is on the screen: a way in, or the shell with a page in it. Pages other than the playground are loaded when they are opened. */
import { lazy, Suspense } from 'preact/compat'
import { Announcer } from './ui/announce.tsx'
import { Loading } from './ui/states.tsx'
import { Entry } from './pages/entry/entry.tsx'
import { Playground } from './pages/playground/playground.tsx'
import { ADMIN_PAGES, page } from './router.ts'
import { entry, session } from './session.ts'
import { Shell } from './shell.tsx'

const Keys = lazy(() => import('./pages/keys/keys.tsx'))
const Usage = lazy(() => import('./pages/usage/usage.tsx'))
const People = lazy(() => import('./pages/people/people.tsx'))
const Models = lazy(() => import('./pages/models/models.tsx'))
const Health = lazy(() => import('./pages/health/health.tsx'))

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
