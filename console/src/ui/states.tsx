/** The states of a page that are not its content: loading, failed, empty. */
import type { ComponentChildren } from 'preact'
import { describeError } from '../api/client.ts'
import type { Loaded } from './use-loaded.ts'

export function Loading({ what }: { readonly what: string }) {
  return (
    <div class="skeleton" role="status">
      <span />
      <span />
      <span />
      <div class="hidden-text">Loading {what}…</div>
    </div>
  )
}

/** Nothing where there is no error. */
export function Problem({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  if (error === null || error === undefined) return null
  return (
    <div class="note bad" role="alert">
      <span>{describeError(error)}</span>
      {onRetry !== undefined && (
        <button type="button" class="button small" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  )
}

interface EmptyProps {
  readonly title: string
  readonly children: ComponentChildren
  readonly action?: ComponentChildren
}

export function Empty({ title, children, action }: EmptyProps) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      <p>{children}</p>
      {action}
    </div>
  )
}

interface ReadyProps<Value> {
  readonly loaded: Loaded<Value>
  readonly what: string
  /** What a value is of, where the page lets one choose; said above it, also of a former one that is still shown. */
  readonly nameOf?: (value: Value) => string
  readonly children: (value: Value) => ComponentChildren
}

/** The content once it is there; an error above what was there before. */
export function Ready<Value>({ loaded, what, nameOf, children }: ReadyProps<Value>) {
  const { value, error, reload } = loaded
  if (value === null) {
    return error === null ? <Loading what={what} /> : <Problem error={error} onRetry={reload} />
  }
  return (
    <>
      <Problem error={error} onRetry={reload} />
      {nameOf === undefined ? (
        children(value)
      ) : (
        <Named loaded={loaded} name={nameOf(value)}>
          {children(value)}
        </Named>
      )}
    </>
  )
}

interface NamedProps {
  readonly loaded: Pick<Loaded<unknown>, 'isLoading' | 'isOutdated'>
  readonly name: string
  readonly children: ComponentChildren
}

/** The line is always there: one that came and went would move what is below. */
function Named({ loaded: { isLoading, isOutdated }, name, children }: NamedProps) {
  return (
    <>
      <p class="small muted" role="status">
        {isOutdated ? 'Still shown' : 'Shown'}: {name}
      </p>
      <div class="named" aria-busy={isLoading && isOutdated}>
        {children}
      </div>
    </>
  )
}
