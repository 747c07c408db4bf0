/**
 * The chat template of a model that comes with a tekken.json and none: what `mistral_common.tokens.tokenizers.instruct` writes, by the
 * version of the file. From v7 on system messages have markers, from v11 on calls are a name and arguments, and from v13 on tools
 * stand before the first user message and calls have no ids.
 */
import type { Tekken } from './tekken.ts'

/** The first that came with a tekken.json. */
const LAST_WITHOUT_SYSTEM = 3
const LAST_WITH_LISTED_CALLS = 7
const LAST_WITH_IDS = 11

export function tekkenTemplate({
  version,
  specialTokens,
}: Pick<Tekken, 'version' | 'specialTokens'>): string {
  const hasSystem = version > LAST_WITHOUT_SYSTEM
  const thinks = specialTokens.includes('[THINK]') && specialTokens.includes('[/THINK]')
  return [
    '{{- bos_token }}{%- set ns = namespace(at=-1, system="") %}',
    // Of the user message that the tools stand before, and, where there is no marker, the system text in.
    `{%- for message in messages %}{%- if message.role == "user"${version > LAST_WITH_IDS ? ' and ns.at < 0' : ''} %}{%- set ns.at = loop.index0 %}{%- endif %}`,
    ...(hasSystem
      ? []
      : [
          '{%- if message.role == "system" %}{%- set ns.system = ns.system + message.content + "\\n\\n" %}{%- endif %}',
        ]),
    '{%- endfor %}{%- for message in messages %}',
    ...(hasSystem
      ? [
          '{%- if message.role == "system" %}{{- "[SYSTEM_PROMPT]" + message.content + "[/SYSTEM_PROMPT]" }}{%- endif %}',
        ]
      : []),
    '{%- if message.role == "user" %}',
    '{%- if tools and loop.index0 == ns.at %}{{- "[AVAILABLE_TOOLS]" + tools | tojson + "[/AVAILABLE_TOOLS]" }}{%- endif %}',
    '{{- "[INST]" }}',
    ...(hasSystem ? [] : ['{%- if loop.index0 == ns.at %}{{- ns.system }}{%- endif %}']),
    '{{- message.content + "[/INST]" }}{%- endif %}',
    '{%- if message.role == "assistant" %}',
    ...(thinks
      ? [
          '{%- if message.reasoning_content %}{{- "[THINK]" + message.reasoning_content + "[/THINK]" }}{%- endif %}',
        ]
      : []),
    '{%- if message.content %}{{- message.content }}{%- endif %}',
    `{%- if message.tool_calls %}${calls(version)}{%- endif %}{{- eos_token }}{%- endif %}`,
    `{%- if message.role == "tool" %}${result(version)}{%- endif %}{%- endfor %}`,
  ].join('')
}

function calls(version: number): string {
  if (version <= LAST_WITH_LISTED_CALLS) {
    const call = '{"name": call.function.name, "arguments": call.function.arguments, "id": call.id}'
    return `{{- "[TOOL_CALLS][" }}{%- for call in message.tool_calls %}{{- ${call} | tojson }}{%- if not loop.last %}{{- ", " }}{%- endif %}{%- endfor %}{{- "]" }}`
  }
  const id = version <= LAST_WITH_IDS ? ' + "[CALL_ID]" + call.id' : ''
  return `{%- for call in message.tool_calls %}{{- "[TOOL_CALLS]" + call.function.name${id} + "[ARGS]" + call.function.arguments | tojson }}{%- endfor %}`
}

function result(version: number): string {
  if (version > LAST_WITH_IDS) return '{{- "[TOOL_RESULTS]" + message.content + "[/TOOL_RESULTS]" }}'
  if (version > LAST_WITHOUT_SYSTEM)
    return '{{- "[TOOL_RESULTS]" + message.tool_call_id + "[TOOL_CONTENT]" + message.content + "[/TOOL_RESULTS]" }}'
  // JSON stays what it is.
  return `{%- set json = message.content[:1] in ["{", "["] %}{{- '[TOOL_RESULTS]{"content": ' + (message.content if json else message.content | tojson) + ', "call_id": ' + message.tool_call_id | tojson + '}[/TOOL_RESULTS]' }}`
}
