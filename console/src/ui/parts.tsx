/** Small parts that several pages are made of. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { formatNumber } from '../format.ts'
import { notify } from './announce.tsx'
import { Icon } from './icons.tsx'

interface PageHeadProps {
  readonly title: string
  readonly children?: ComponentChildren
  readonly actions?: ComponentChildren
}

/** The heading takes the focus when the page opens, so that a screen reader reads on from there. */
export function PageHead({ title, children, actions }: PageHeadProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Sluice`
    heading.current?.focus({ preventScroll: true })
  }, [title])
  return (
    <div class="page-head">
      <div>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {children !== undefined && <p>{children}</p>}
      </div>
      {actions !== undefined && <div class="row">{actions}</div>}
    </div>
  )
}

/** @returns whether it was copied, which is also said */
export async function copyText(text: string): Promise<boolean> {
  let isCopied = true
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    // Pages that did not come by TLS have no clipboard of that kind.
    isCopied = copySelected(text)
  }
  notify(isCopied ? 'Copied' : 'This browser does not let the page copy; select the text instead.')
  return isCopied
}

function copySelected(text: string): boolean {
  const before = document.activeElement
  const area = document.createElement('textarea')
  area.value = text
  // Outside the dialog that is on top nothing can be selected.
  const place = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body
  place.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (before instanceof HTMLElement) before.focus({ preventScroll: true })
  return isCopied
}

export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [isDone, setDone] = useState(false)
  const copy = async (): Promise<void> => {
    if (!(await copyText(text))) return
    setDone(true)
    setTimeout(() => setDone(false), 1500)
  }
  return (
    <button type="button" class="button small" onClick={() => void copy()}>
      <Icon name="copy" size={16} />
      {isDone ? 'Copied' : label}
    </button>
  )
}

/** Shown once: it is nowhere else. */
export function Secret({ text }: { readonly text: string }) {
  return (
    <div class="secret">
      <code>{text}</code>
      <CopyButton text={text} />
    </div>
  )
}

export function Code({ text, language }: { readonly text: string; readonly language: string }) {
  return (
    <div class="code">
      <div class="code-head">
        <span>{language || 'text'}</span>
        <CopyButton text={text} />
      </div>
      <pre tabIndex={0} aria-label={`${language || 'text'} code`} role="region">
        <code>{text}</code>
      </pre>
    </div>
  )
}

interface MeterProps {
  readonly label: string
  /** Null where it is not known. */
  readonly used: number | null
  /** Null is no bound. */
  readonly max: number | null
  readonly note?: string
  readonly format?: (value: number) => string
  /** @default how much of how much */
  readonly text?: string
}

function describeUse(used: number | null, max: number | null, format: (value: number) => string): string {
  if (max === null) return used === null ? 'no limit' : `${format(used)}, no limit`
  return used === null ? format(max) : `${format(used)} of ${format(max)}`
}

/** How much of a bound is used. */
export function Meter({ label, used, max, note, format = formatNumber, text: given }: MeterProps) {
  const text = given ?? describeUse(used, max, format)
  const isFull = used !== null && max !== null && used >= max
  return (
    <div class={isFull ? 'meter full' : 'meter'}>
      <div class="row apart">
        <span class="muted">{label}</span>
        <span>{text}</span>
      </div>
      {used !== null && max !== null && (
        <progress value={Math.min(used, max)} max={max} aria-label={`${label}: ${text}`} />
      )}
      {note !== undefined && <span class="small muted">{note}</span>}
    </div>
  )
}

interface ChoicesProps<Value extends string> {
  readonly label: string
  readonly value: Value
  readonly choices: readonly (readonly [value: Value, label: string])[]
  readonly onValue: (value: Value) => void
}

/** One of a few, all in sight. */
export function Choices<Value extends string>({ label, value, choices, onValue }: ChoicesProps<Value>) {
  return (
    <div class="tabs" role="group" aria-label={label}>
      {choices.map(([one, text]) => (
        <button key={one} type="button" aria-pressed={one === value} onClick={() => onValue(one)}>
          {text}
        </button>
      ))}
    </div>
  )
}

export function download(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
