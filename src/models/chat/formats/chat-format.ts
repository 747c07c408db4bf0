/** What a format of tool calls is: how calls are written and read, and which chat templates write them so. Types only. */
import type { ToolFormat } from '../../../core/tool-format.ts'
import type { CallSyntax } from '../reading/call-reader.ts'

/** The text around the arguments of a call. */
interface CallFrame {
  readonly begin: string
  readonly end: string
}

export interface ChatFormat {
  readonly name: Exclude<ToolFormat, 'auto'>
  /** Whether models with this template write calls so. */
  readonly isOf: (template: string) => boolean
  readonly syntax: CallSyntax
  readonly frame: (name: string) => CallFrame
  /** Around all calls of an answer, and between them. */
  readonly list: CallFrame & { readonly separator: string }
  /** What every list begins with: once it is written, a call must follow. */
  readonly trigger: string
  /** Parts of it that some vocabularies have as control tokens, whose text an engine must be asked for. */
  readonly markers: readonly string[]
  /** Whether the template takes no message with more than one call. */
  readonly hasOneCallPerMessage?: boolean
  /** Whether ids of calls must be nine letters or digits. */
  readonly hasShortIds?: boolean
}
