/** All settings of the conversation. A field that is left empty is not sent. */
import { CheckField, SelectField, TextAreaField, TextField, toChoices } from '../../ui/field.tsx'
import {
  EFFORTS,
  EXAMPLE_TOOLS,
  FORMAT_EXAMPLES,
  type Format,
  FORMATS,
  NUMBER_SETTINGS,
  type NumberName,
  type NumberSetting,
  type Settings,
  TOOL_CHOICES,
} from './settings.ts'

interface PanelProps {
  readonly settings: Settings
  readonly onChange: (changed: Partial<Settings>) => void
}

export function SettingsPanel({ settings, onChange }: PanelProps) {
  return (
    <div class="stack">
      <TextAreaField
        label="System prompt"
        rows={4}
        placeholder="You are a helpful assistant."
        value={settings.system}
        onValue={(system) => onChange({ system })}
      />
      <Numbers settings={settings} onChange={onChange} />
      <Tools settings={settings} onChange={onChange} />
      <AnswerFormat settings={settings} onChange={onChange} />
      <Endings settings={settings} onChange={onChange} />
    </div>
  )
}

const FORMAT_NAMES: Readonly<Record<Format, string>> = {
  text: 'Any text',
  json_object: 'Any JSON object',
  json_schema: 'JSON by a schema',
  regex: 'A regular expression',
  choice: 'One of these',
  grammar: 'A grammar (GBNF)',
}

function Numbers({ settings: { numbers }, onChange }: PanelProps) {
  const all: readonly (NumberSetting & { readonly name: NumberName })[] = NUMBER_SETTINGS
  return (
    <fieldset class="settings-group">
      <legend class="legend">Sampling</legend>
      <div class="settings-numbers">
        {all.map(({ name, label, hint, min, max, step, fallback }) => (
          <TextField
            key={name}
            label={label}
            hint={hint}
            type="number"
            inputMode="decimal"
            min={min}
            {...(max !== undefined && { max })}
            step={step}
            placeholder={fallback}
            value={numbers[name] ?? ''}
            onValue={(text) => onChange({ numbers: { ...numbers, [name]: text } })}
          />
        ))}
      </div>
    </fieldset>
  )
}

function Tools({ settings, onChange }: PanelProps) {
  return (
    <fieldset class="settings-group">
      <legend class="legend">Tools</legend>
      <TextAreaField
        label="Functions (JSON)"
        rows={settings.tools === '' ? 2 : 10}
        class="input mono"
        spellcheck={false}
        placeholder="[]"
        value={settings.tools}
        onValue={(tools) => onChange({ tools })}
      />
      {settings.tools === '' ? (
        <button type="button" class="button small" onClick={() => onChange({ tools: EXAMPLE_TOOLS })}>
          Begin with an example
        </button>
      ) : (
        <SelectField
          label="Tool choice"
          value={settings.toolChoice}
          choices={toChoices(TOOL_CHOICES)}
          onValue={(toolChoice) => onChange({ toolChoice })}
        />
      )}
    </fieldset>
  )
}

function AnswerFormat({ settings, onChange }: PanelProps) {
  const { format, formatText } = settings
  const choose = (chosen: string): void => {
    const next = FORMATS.find((one) => one === chosen) ?? 'text'
    onChange({ format: next, formatText: FORMAT_EXAMPLES[next] })
  }
  return (
    <fieldset class="settings-group">
      <legend class="legend">Answer</legend>
      <SelectField
        label="Format"
        value={format}
        choices={FORMATS.map((value) => ({ value, label: FORMAT_NAMES[value] }))}
        onValue={choose}
      />
      {format !== 'text' && format !== 'json_object' && (
        <TextAreaField
          label={format === 'choice' ? 'Choices, one a line' : FORMAT_NAMES[format]}
          rows={format === 'json_schema' ? 10 : 3}
          spellcheck={false}
          value={formatText}
          onValue={(text) => onChange({ formatText: text })}
        />
      )}
      <SelectField
        label="Reasoning effort"
        value={settings.effort}
        choices={EFFORTS.map((value) => ({ value, label: value === '' ? "The model's own" : value }))}
        onValue={(effort) => onChange({ effort })}
      />
    </fieldset>
  )
}

function Endings({ settings, onChange }: PanelProps) {
  return (
    <fieldset class="settings-group">
      <legend class="legend">Ends and biases</legend>
      <TextAreaField
        label="Stop texts, one a line"
        rows={2}
        value={settings.stop}
        onValue={(stop) => onChange({ stop })}
      />
      <TextField
        label="Stop tokens"
        hint="Ids, with commas"
        value={settings.stopTokenIds}
        onValue={(stopTokenIds) => onChange({ stopTokenIds })}
      />
      <TextField
        label="Logit bias"
        hint='As {"42": -5}'
        value={settings.logitBias}
        onValue={(logitBias) => onChange({ logitBias })}
      />
      <CheckField
        label="Go on behind the model's own end"
        isChecked={settings.ignoresEnd}
        onValue={(ignoresEnd) => onChange({ ignoresEnd })}
      />
    </fieldset>
  )
}
