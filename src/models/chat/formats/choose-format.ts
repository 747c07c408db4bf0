/** Chooses the format of a model's tool calls and the markers of its reasoning, by its chat template. */
import type { ToolFormat } from '../../../core/choices/tool-format.ts'
import type { ReasoningMarkers } from '../reading/reasoning-reader.ts'
import type { ChatFormat } from './chat-format.ts'
import { DEEPSEEK, DEEPSEEK_BLOCK } from './deepseek.ts'
import { GEMMA } from './gemma.ts'
import { GEMMA_4 } from './gemma-4.ts'
import { HERMES, HERMES_TYPED } from './hermes.ts'
import { JSON_FORMAT } from './json.ts'
import { LLAMA } from './llama.ts'
import { MISTRAL_LIST, MISTRAL_NAMED } from './mistral.ts'
import { PHI } from './phi.ts'
import { QWEN_XML } from './qwen-xml.ts'

/** The first that fits is taken. */
const FORMATS = [
  ...[MISTRAL_NAMED, MISTRAL_LIST, DEEPSEEK, DEEPSEEK_BLOCK, GEMMA_4, QWEN_XML, HERMES, HERMES_TYPED],
  ...[PHI, LLAMA, GEMMA, JSON_FORMAT],
]

/** DeepSeek R1 and Qwen 3, Magistral, Seed-OSS, Command A, Gemma 4. */
const REASONING_MARKERS: readonly ReasoningMarkers[] = [
  { open: '<think>', close: '</think>' },
  { open: '[THINK]', close: '[/THINK]' },
  { open: '<seed:think>', close: '</seed:think>' },
  { open: '<|START_THINKING|>', close: '<|END_THINKING|>' },
  { open: '<|channel>thought', close: '<channel|>' },
]

export interface FormatModel {
  readonly chatTemplate: string | null
  readonly toolFormat: ToolFormat
}

/**
 * What a template writes itself: tools, calls and results; tools and results, but no calls; calls and results of tools that have to be
 * described; tools, from a field of the system message, but no calls; or nothing.
 */
type WrittenTools = 'all' | 'tools' | 'calls' | 'system-field' | 'nothing'

export interface ChosenFormat {
  readonly format: ChatFormat
  readonly written: WrittenTools
}

export function chooseFormat({ chatTemplate, toolFormat }: FormatModel): ChosenFormat {
  const template = chatTemplate ?? ''
  const writesTools = /\b(?:xml_)?tools\b/.test(template)
  const writesCalls = /\btool_calls\b/.test(template)
  const named = FORMATS.filter(({ name }) => name === toolFormat)
  const candidates =
    named.length > 0 ? named : FORMATS.filter(({ name }) => writesTools || writesCalls || isDescribed(name))
  const format = candidates.find(({ isOf }) => isOf(template)) ?? named[0] ?? JSON_FORMAT
  return { format, written: writtenTools(format, { template, writesTools, writesCalls }) }
}

/** Whether a template writes tools, in a format that is known. */
export function writesTools(model: FormatModel): boolean {
  return chooseFormat(model).written !== 'nothing'
}

interface TemplateTraits {
  readonly template: string
  readonly writesTools: boolean
  readonly writesCalls: boolean
}

/** A template that writes tools in a way that is not known is given none. */
function writtenTools({ name }: ChatFormat, traits: TemplateTraits): WrittenTools {
  const { template, writesTools, writesCalls } = traits
  if (isDescribed(name)) return 'nothing'
  if (!writesCalls && SYSTEM_FIELD.test(template)) return 'system-field'
  if (writesTools) return writesCalls ? 'all' : 'tools'
  return writesCalls ? 'calls' : 'nothing'
}

const SYSTEM_FIELD = /message\[['"]tools['"]\]/

/** Null where the model writes none that is known. */
export function reasoningMarkers(chatTemplate: string | null): ReasoningMarkers | null {
  const template = chatTemplate ?? ''
  return REASONING_MARKERS.find(({ close }) => template.includes(close)) ?? null
}

/** Texts that some vocabularies have as control tokens. */
export function markersOf(reasoning: ReasoningMarkers | null): readonly string[] {
  if (reasoning === null) return []
  const { open, close } = reasoning
  return open === '<|channel>thought' ? ['<|channel>', close] : [open, close]
}

/** Whether the prompt describes the format, as its models' templates do not. */
function isDescribed(name: ChatFormat['name']): boolean {
  return name === 'gemma' || name === 'json'
}
