/** What a format of tool calls is: how calls are written and read, and which chat templates write them so. Types only. */
import type { ToolFormat } from '../../../core/choices/tool-format.ts'
import type { CallSyntax } from '../reading/call-reader.ts'

/** The text around the arguments of a call. */
interface CallFrame {
  readonly begin: string
  readonly end: string
}

/** A format of XGrammar's structural tags. */
export type TagFormat = Readonly<Record<string, unknown>>

/** The schema of a function's arguments. */
export interface ArgumentSchema {
  readonly parameters: Readonly<Record<string, unknown>>
  /** The body's name for it, for errors. */
  readonly field: string
}

export interface ChatFormat {
  readonly name: Exclude<ToolFormat, 'auto'>
  /** Whether models with this template write calls so. */
  readonly isOf: (template: string) => boolean
  readonly syntax: CallSyntax
  readonly frame: (name: string) => CallFrame
  /** A function's schema as the template can read it. @default as it is */
  readonly toTemplateSchema?: (parameters: Readonly<Record<string, unknown>>) => object
  /** Arguments as they are written inside the frame; JSON where it is absent. @param text JSON text of an object */
  readonly writeArguments?: (text: string) => string
  /** What arguments of a schema may be; present where they are not JSON. */
  readonly toArgumentsFormat?: (schema: ArgumentSchema) => TagFormat
  /** Around all calls of an answer, and between them. */
  readonly list: CallFrame & { readonly separator: string }
  /** What every list begins with: once it is written, a call must follow, where it is an opener; else the name of one. */
  readonly trigger: string
  /** Parts of it that some vocabularies have as control tokens, whose text an engine must be asked for. */
  readonly markers: readonly string[]
  /** Whether the template takes no message with more than one call. */
  readonly hasOneCallPerMessage?: boolean
  /** Whether ids of calls must be nine letters or digits. */
  readonly hasShortIds?: boolean
}

/**
 * One of these texts. As a pattern, of which XGrammar is given a grammar without alternatives that begin alike; its own alternatives of
 * constants are joined wrongly, and none of them may be empty.
 */
export function oneOfTexts(texts: readonly string[]): TagFormat {
  return { type: 'regex', pattern: texts.map(escapePattern).join('|') }
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}
