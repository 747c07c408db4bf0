/**
 * The architectures of the pinned llama.cpp (`general.architecture` of a GGUF file) that generate text token by token. Left
 * out: encoders, projectors, vocoders, draft heads, encoder-decoders and diffusion models. Review the list whenever the
 * pinned version changes.
 */
export const TEXT_ARCHITECTURES: ReadonlySet<string> = new Set(
  `
  llama llama4 deci falcon grok gpt2 gptj gptneox mpt baichuan starcoder refact bloom stablelm qwen
  qwen2 qwen2moe qwen2vl qwen3 qwen3moe qwen3next qwen3vl qwen3vlmoe qwen35 qwen35moe qwen4exp phi2
  phi3 phimoe plamo plamo2 plamo3 codeshell orion internlm2 minicpm minicpm3 gemma gemma2 gemma3
  gemma3n gemma4 starcoder2 mamba mamba2 maple jamba falcon-h1 xverse command-r cohere2 cohere2moe
  dbrx olmo olmo2 olmoe muse-glimmer openelm arctic deepseek deepseek2 deepseek2-ocr deepseek32
  deepseek4 chatglm glm4 glm4moe glm-dsa bitnet jais jais2 nemotron nemotron_h nemotron_h_moe exaone
  exaone4 exaone-moe rwkv6 rwkv6qwen2 rwkv7 arwkv7 granite granitemoe granitehybrid graniteswitch
  granite_swa chameleon plm bailingmoe bailingmoe2 bailingmoe3 dots1 dots3note arcee afmoe laguna
  ernie4_5 ernie4_5-moe hunyuan-moe hunyuan-dense hunyuan_vl hy_v3 hy_v4 smollm3 gpt-oss lfm2 lfm2moe
  smallthinker seed_oss grovemoe apertus minimax-01 hrm_text minimax-m2 minimax-m3 cogvlm
  pangu-embedded mistral3 mistral4 paddleocr mimo2 step35 spark2_5 maincoder kimi-linear kimi-k3
  talkie mellum nanbeige
`
    .trim()
    .split(/\s+/),
)

/** Those that are encoders, and make vectors of texts. A decoder whose header names a pooling does so too. */
export const EMBEDDING_ARCHITECTURES: ReadonlySet<string> = new Set([
  'bert',
  'modern-bert',
  'nomic-bert',
  'nomic-bert-moe',
  'neo-bert',
  'jina-bert-v2',
  'jina-bert-v3',
  'eurobert',
  'gemma-embedding',
  'llama-embed',
])
