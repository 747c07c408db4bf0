/** How a model writes tool calls: the formats that can be read. `auto` finds it from the model's chat template. */
export const TOOL_FORMATS = [
  'auto',
  'hermes',
  'llama',
  'mistral',
  'gemma',
  'gemma-4',
  'deepseek',
  'phi',
  'qwen-xml',
  'json',
] as const

export type ToolFormat = (typeof TOOL_FORMATS)[number]
