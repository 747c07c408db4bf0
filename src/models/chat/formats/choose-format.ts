/** Chooses the format of a model's tool calls and the markers of its reasoning, by its chat template. */
import type { ToolFormat } from '../../../core/tool-format.ts'
import type { ReasoningMarkers } from '../reading/reasoning-reader.ts'
import type { ChatFormat } from './chat-format.ts'
import { GEMMA } from './gemma.ts'
import { HERMES } from './hermes.ts'
import { JSON_FORMAT } from './json.ts'
import { LLAMA } from './llama.ts'
import { MISTRAL_LIST, MISTRAL_NAMED } from './mistral.ts'

/** The first that fits is taken. */
const FORMATS = [MISTRAL_NAMED, MISTRAL_LIST, HERMES, LLAMA, GEMMA, JSON_FORMAT]

/** DeepSeek R1 and Qwen 3, Magistral, Seed-OSS, Command A. */
const REASONING_MARKERS: readonly ReasoningMarkers[] = [
  { open: '<think>', close: '</think>' },
  { open: '[THINK]', close: '[/THINK]' },
  { open: '<seed:think>', close: '</seed:think>' },
  { open: '<|START_THINKING|>', close: '<|END_THINKING|>' },
]

export interface FormatModel {
  readonly chatTemplate: string | null
  readonly toolFormat: ToolFormat
}

export interface ChosenFormat {
  readonly format: ChatFormat
  /** Whether the template writes tools, calls and results itself, so that nothing has to be described. */
  readonly isInTemplate: boolean
}

export function chooseFormat({ chatTemplate, toolFormat }: FormatModel): ChosenFormat {
  const template = chatTemplate ?? ''
  const knowsTools = /\btools\b/.test(template)
  const named = FORMATS.filter(({ name }) => name === toolFormat)
  const candidates = named.length > 0 ? named : FORMATS.filter(({ name }) => knowsTools || isDescribed(name))
  const format = candidates.find(({ isOf }) => isOf(template)) ?? named[0] ?? JSON_FORMAT
  // A template that writes tools in a way that is not known is given none.
  return { format, isInTemplate: knowsTools && !isDescribed(format.name) }
}

/** Null where the model writes none that is known. */
export function reasoningMarkers(chatTemplate: string | null): ReasoningMarkers | null {
  const template = chatTemplate ?? ''
  return REASONING_MARKERS.find(({ close }) => template.includes(close)) ?? null
}

/** Whether the prompt describes the format, as its models' templates do not. */
function isDescribed(name: ChatFormat['name']): boolean {
  return name === 'gemma' || name === 'json'
}
