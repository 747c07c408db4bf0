/** Form fields with their label, hint and problem tied together for those who cannot see that they stand side by side. */
import type {
  ComponentChildren,
  InputHTMLAttributes,
  PartialInputHTMLAttributes,
  JSX,
  PartialSelectHTMLAttributes,
  TextareaHTMLAttributes,
} from 'preact'
import { useId } from 'preact/hooks'

interface Labelled {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly problem?: string | null
}

type Typed<Element extends HTMLElement, Attributes> = Labelled &
  Omit<Attributes, 'onInput' | 'onChange' | 'label' | 'ref' | 'role'> & {
    readonly onValue: (value: string, element: Element) => void
  }

interface Wiring {
  readonly id: string
  readonly 'aria-describedby'?: string
  readonly 'aria-invalid'?: 'true'
}

function Frame({
  label,
  hint,
  problem,
  children,
}: Labelled & { readonly children: (wiring: Wiring) => JSX.Element }) {
  const id = useId()
  const hasMore = hint !== undefined || Boolean(problem)
  const wiring: Wiring = {
    id,
    ...(hasMore && { 'aria-describedby': `${id}-more` }),
    ...(problem && { 'aria-invalid': 'true' as const }),
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(wiring)}
      {hasMore && (
        <div id={`${id}-more`} class={problem ? 'problem' : 'hint'}>
          {problem || hint}
        </div>
      )}
    </div>
  )
}

type TextFieldProps = Typed<HTMLInputElement, PartialInputHTMLAttributes<HTMLInputElement>>

export function TextField({ label, hint, problem, onValue, ...rest }: TextFieldProps) {
  return (
    <Frame label={label} hint={hint} problem={problem ?? null}>
      {(wiring) => (
        <input
          {...(rest as InputHTMLAttributes)}
          {...wiring}
          class="input"
          onInput={(event) => onValue(event.currentTarget.value, event.currentTarget)}
        />
      )}
    </Frame>
  )
}

type TextAreaProps = Typed<HTMLTextAreaElement, TextareaHTMLAttributes>

export function TextAreaField({ label, hint, problem, onValue, ...rest }: TextAreaProps) {
  return (
    <Frame label={label} hint={hint} problem={problem ?? null}>
      {(wiring) => (
        <textarea
          {...rest}
          {...wiring}
          class="input"
          onInput={(event) => onValue(event.currentTarget.value, event.currentTarget)}
        />
      )}
    </Frame>
  )
}

interface Choice {
  readonly value: string
  readonly label: string
}

type SelectProps = Typed<HTMLSelectElement, PartialSelectHTMLAttributes<HTMLSelectElement>> & {
  readonly choices: readonly Choice[]
}

export function SelectField({ label, hint, problem, onValue, choices, value, ...rest }: SelectProps) {
  return (
    <Frame label={label} hint={hint} problem={problem ?? null}>
      {(wiring) => (
        <select
          {...rest}
          {...wiring}
          class="input"
          value={value}
          onChange={(event) => onValue(event.currentTarget.value, event.currentTarget)}
        >
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
    </Frame>
  )
}

export function CheckField({
  label,
  isChecked,
  onValue,
}: {
  readonly label: string
  readonly isChecked: boolean
  readonly onValue: (isChecked: boolean) => void
}) {
  return (
    <label class="check">
      <input type="checkbox" checked={isChecked} onChange={(event) => onValue(event.currentTarget.checked)} />
      {label}
    </label>
  )
}

export const toChoices = (values: readonly string[]): readonly Choice[] =>
  values.map((value) => ({ value, label: value }))
