/** How a model writes tool calls: the formats that can be read. `auto` finds it from the model's chat template. */
export const TOOL_FORMATS = ['auto', 'hermes', 'llama', 'mistral', 'gemma', 'json'] as const

export type ToolFormat = (typeof TOOL_FORMATS)[number]
