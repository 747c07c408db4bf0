/** A conversation and the functions that its model may call, as every dialect reads them and a model's template writes them. */

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  /** Its text. Empty where an assistant's message has tool calls only. */
  readonly content: string
  /** Text and media in their order, for a model that reads media; `content` has their text joined. @default the text alone */
  readonly parts?: readonly ContentPart[]
  /** What an assistant thought before it answered. @default none */
  readonly reasoning?: string
  /** What an assistant called. @default none */
  readonly toolCalls?: readonly ToolCall[]
  /** Of a tool's message: the call that it answers. */
  readonly toolCallId?: string
  /** Of a tool's message: the function that was called. */
  readonly name?: string
}

export type ContentPart = { readonly kind: 'text'; readonly text: string } | MediaPart

/** What is no text: an image, audio, a video, a file. */
export interface MediaPart {
  readonly kind: 'media'
  /** As OpenAI's chat completions have it, `{type: 'image_url', image_url: {url}}`. It is passed on and not read. */
  readonly part: { readonly type: string; readonly [field: string]: unknown }
  /** What it is and how its caller's dialect calls it, for messages: `an image ('image')`. */
  readonly name: string
  /** Where it stands in the body, behind the field of the message's text: `[1]`. */
  readonly place: string
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
  /** The body's name for `parameters`, for errors. @default `tools` */
  readonly parametersField?: string
}

/** A conversation and how it is to be answered. */
export interface Chat {
  readonly messages: readonly ChatMessage[]
  /** Functions that the answer may call. @default none */
  readonly tools?: readonly ToolDefinition[]
  /** @default `auto` where there are tools */
  readonly toolChoice?: ToolChoice
  /** Whether an answer may call more than one tool. @default true */
  readonly allowsParallelToolCalls?: boolean
  /** Further variables of the model's template, as vLLM's `chat_template_kwargs`. @default none */
  readonly templateArguments?: Readonly<Record<string, unknown>>
  /** Whether the answer goes on with the last message, an assistant's. @default false */
  readonly continuesLastMessage?: boolean
  /** Whether the prompt ends with the beginning of an answer; not where the last message is continued. @default true */
  readonly hasGenerationPrompt?: boolean
}

/** The tools that the answer may call, by its choice. */
export function callableTools({ tools = [], toolChoice = 'auto' }: Chat): readonly ToolDefinition[] {
  if (toolChoice === 'none') return []
  return typeof toolChoice === 'string' ? tools : tools.filter(({ name }) => name === toolChoice.name)
}

/** Whether the answer must call a tool. */
export function mustCall({ toolChoice = 'auto' }: Chat): boolean {
  return toolChoice !== 'auto' && toolChoice !== 'none'
}

/** Whether the answer may, must or must not call a tool, or which one it must call. */
export type ToolChoice = 'none' | 'auto' | 'required' | { readonly name: string }
