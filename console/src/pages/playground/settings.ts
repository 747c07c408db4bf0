/** The settings of a conversation: what each is called, what it means, and that what is left empty is left to the server. */

export interface NumberSetting {
  readonly name: string
  readonly label: string
  readonly hint: string
  readonly min: number
  readonly max?: number
  readonly step: number | 'any'
  /** Of the server, shown where nothing is entered. */
  readonly fallback: string
}

export const NUMBER_SETTINGS = [
  {
    name: 'temperature',
    label: 'Temperature',
    hint: '0 takes the likeliest token each time',
    min: 0,
    max: 5,
    step: 'any',
    fallback: '1',
  },
  { name: 'max_tokens', label: 'Max tokens', hint: 'Length of an answer', min: 1, step: 1, fallback: '256' },
  {
    name: 'top_p',
    label: 'Top p',
    hint: 'Share of the probability to choose from',
    min: 0,
    max: 1,
    step: 'any',
    fallback: '1',
  },
  { name: 'top_k', label: 'Top k', hint: 'Tokens to choose from; 0 is all', min: 0, step: 1, fallback: '0' },
  {
    name: 'min_p',
    label: 'Min p',
    hint: "Share of the likeliest token's probability",
    min: 0,
    max: 1,
    step: 'any',
    fallback: '0',
  },
  {
    name: 'repetition_penalty',
    label: 'Repetition penalty',
    hint: '1 is off',
    min: 0,
    max: 10,
    step: 'any',
    fallback: '1',
  },
  {
    name: 'presence_penalty',
    label: 'Presence penalty',
    hint: '−2 to 2',
    min: -2,
    max: 2,
    step: 'any',
    fallback: '0',
  },
  {
    name: 'frequency_penalty',
    label: 'Frequency penalty',
    hint: '−2 to 2',
    min: -2,
    max: 2,
    step: 'any',
    fallback: '0',
  },
  { name: 'seed', label: 'Seed', hint: 'The same answer each time', min: 0, step: 1, fallback: 'random' },
  { name: 'min_tokens', label: 'Min tokens', hint: 'No end before', min: 0, step: 1, fallback: '0' },
] as const satisfies readonly NumberSetting[]

export type NumberName = (typeof NUMBER_SETTINGS)[number]['name']

export const FORMATS = ['text', 'json_object', 'json_schema', 'regex', 'choice', 'grammar'] as const
export type Format = (typeof FORMATS)[number]

export const TOOL_CHOICES = ['auto', 'required', 'none'] as const
export const EFFORTS = ['', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const

export interface Settings {
  readonly system: string
  /** As they were typed, so that a half-typed one stays as it is. */
  readonly numbers: Readonly<Partial<Record<NumberName, string>>>
  /** One a line. */
  readonly stop: string
  /** JSON, from token id to number. */
  readonly logitBias: string
  /** Ids of tokens, with commas. */
  readonly stopTokenIds: string
  readonly ignoresEnd: boolean
  readonly effort: string
  readonly format: Format
  /** What the format needs: a schema, an expression, a choice a line, a grammar. */
  readonly formatText: string
  /** JSON of an array; empty for none. */
  readonly tools: string
  readonly toolChoice: string
}

export const DEFAULT_SETTINGS: Settings = {
  system: '',
  numbers: {},
  stop: '',
  logitBias: '',
  stopTokenIds: '',
  ignoresEnd: false,
  effort: '',
  format: 'text',
  formatText: '',
  tools: '',
  toolChoice: 'auto',
}

const show = (value: unknown) => JSON.stringify(value, null, 2)

export const EXAMPLE_TOOLS = show([
  {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'The weather of a city',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
        required: ['city'],
      },
    },
  },
])

export const FORMAT_EXAMPLES: Readonly<Record<Format, string>> = {
  text: '',
  json_object: '',
  json_schema: show({
    type: 'object',
    properties: { name: { type: 'string' }, year: { type: 'integer' } },
    required: ['name', 'year'],
    additionalProperties: false,
  }),
  regex: '\\d{4}-\\d{2}-\\d{2}',
  choice: 'positive\nnegative\nneutral',
  grammar: 'root ::= "yes" | "no"',
}
