/**
 * The Hugging Face architectures that can be converted, by class name. Adding one adds a row here and a planning
 * function beside `llama-architecture.ts`.
 */
import type { ArchitecturePlan } from './architecture-plan.ts'
import { badFile, quoted } from '../file-errors.ts'
import { planGemma2, planGemma3 } from './gemma-architecture.ts'
import type { JsonObject } from '../json-file.ts'
import { planLlama, planMistral } from './llama-architecture.ts'
import { planPhi3 } from './phi3-architecture.ts'
import { planQwen2, planQwen3 } from './qwen-architecture.ts'

interface HfArchitecture {
  /** As `architectures` of config.json names it. */
  readonly hfName: string
  readonly plan: (config: JsonObject) => ArchitecturePlan
}

export const HF_ARCHITECTURES: readonly HfArchitecture[] = [
  { hfName: 'LlamaForCausalLM', plan: planLlama },
  { hfName: 'MistralForCausalLM', plan: planMistral },
  { hfName: 'Qwen2ForCausalLM', plan: planQwen2 },
  { hfName: 'Qwen3ForCausalLM', plan: planQwen3 },
  { hfName: 'Gemma2ForCausalLM', plan: planGemma2 },
  { hfName: 'Gemma3ForCausalLM', plan: planGemma3 },
  { hfName: 'Phi3ForCausalLM', plan: planPhi3 },
]

/** @throws StartError when the architecture is not in the table or its config cannot be converted. */
export function planArchitecture(config: JsonObject): ArchitecturePlan {
  const names = Array.isArray(config.fields['architectures']) ? config.fields['architectures'] : []
  const architecture = HF_ARCHITECTURES.find(({ hfName }) => names[0] === hfName)
  if (architecture === undefined) {
    const given =
      typeof names[0] === 'string' ? `has the architecture ${quoted(names[0])}` : 'names no architecture'
    const known = HF_ARCHITECTURES.map(({ hfName }) => hfName).join(', ')
    throw badFile(config.path, `${given}; safetensors are converted for ${known}, others need a GGUF file`)
  }
  return architecture.plan(config)
}
