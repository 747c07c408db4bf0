/** A conversation and the functions that its model may call, as every dialect reads them and a model's template writes them. Types only. */

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  /** Empty where an assistant's message has tool calls only. */
  readonly content: string
  /** What an assistant thought before it answered. @default none */
  readonly reasoning?: string
  /** What an assistant called. @default none */
  readonly toolCalls?: readonly ToolCall[]
  /** Of a tool's message: the call that it answers. */
  readonly toolCallId?: string
  /** Of a tool's message: the function that was called. */
  readonly name?: string
}

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** JSON text of an object. */
  readonly arguments: string
}

export interface ToolDefinition {
  readonly name: string
  readonly description: string | null
  /** A JSON schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** Whether arguments must match the schema exactly. */
  readonly strict: boolean
}

/** Whether the answer may, must or must not call a tool, or which one it must call. */
export type ToolChoice = 'none' | 'auto' | 'required' | { readonly name: string }
