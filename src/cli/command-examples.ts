/** What the help of each command ends with: lines that run as they stand. A test parses them all. */
import type { Command } from 'commander'

/** By the command's words. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  serve: [
    'sluice serve --checkpoint demo',
    'sluice serve --checkpoint model.gguf --api-keys @keys.txt --admin-key @admin-key.txt',
    'sluice serve --checkpoint hf:org/repo --host 0.0.0.0 --registration closed',
    'sluice serve --upstream http://vllm-1:8000/v1 --upstream http://vllm-2:8000/v1',
  ],
  chat: ['sluice chat', 'sluice chat hf:org/repo', 'echo "Why is the sky blue?" | sluice chat'],
  light: ['sluice light', 'sluice light --checkpoint model.gguf --port 8081'],
  pull: ['sluice pull hf:org/repo', 'sluice pull hf:org/repo:model-Q4_K_M.gguf'],
  quantize: ['sluice quantize --checkpoint model.safetensors --mode int8 --output model-int8.gguf'],
  keys: ['sluice keys create --name ci', 'sluice keys list'],
  'keys create': [
    'sluice keys create --name ci --expires-in-days 90',
    'sluice keys create --user ada@example.org --tier pro --daily-token-budget 1000000',
  ],
  'keys list': ['sluice keys list', 'sluice keys list --json'],
  'keys revoke': ['sluice keys revoke sk-svc-1a2b3c4d'],
  'keys rename': ['sluice keys rename sk-svc-1a2b3c4d "nightly build"'],
  'keys extend': ['sluice keys extend sk-svc-1a2b3c4d 90'],
  'keys set-tier': ['sluice keys set-tier sk-svc-1a2b3c4d pro'],
  'keys set-team': [
    'sluice keys set-team sk-svc-1a2b3c4d search',
    'sluice keys set-team sk-svc-1a2b3c4d none',
  ],
  'keys set-budget': ['sluice keys set-budget sk-svc-1a2b3c4d --monthly-token-budget 5000000'],
  users: ['sluice users invite ada@example.org bob@example.org', 'sluice users list'],
  'users create': [
    'sluice users create ada@example.org',
    'sluice users create ada@example.org --tier pro --team search',
  ],
  'users invite': [
    'sluice users invite ada@example.org bob@example.org --tier pro --url https://llm.example.org/',
  ],
  'users list': ['sluice users list', 'sluice users list --json'],
  'users set-tier': ['sluice users set-tier ada@example.org enterprise'],
  'users set-role': ['sluice users set-role ada@example.org admin'],
  'users password': ['sluice users password ada@example.org'],
  'users disable': ['sluice users disable ada@example.org'],
  'users enable': ['sluice users enable ada@example.org'],
  'users delete': ['sluice users delete ada@example.org'],
  'users set-team': ['sluice users set-team ada@example.org search'],
  'users set-budget': ['sluice users set-budget ada@example.org --daily-token-budget 200000'],
  teams: ['sluice teams create search --monthly-token-budget 40000000', 'sluice teams list'],
  'teams create': ['sluice teams create search --monthly-token-budget 40000000'],
  'teams list': ['sluice teams list'],
  'teams rename': ['sluice teams rename search research'],
  'teams set-budget': ['sluice teams set-budget search --daily-token-budget none'],
  'teams delete': ['sluice teams delete search'],
  usage: [
    'sluice usage --since 2026-11-16 --group-by user',
    'sluice usage --group-by model --bucket day --csv > usage.csv',
  ],
  audit: ['sluice audit --since 2026-11-16', 'sluice audit --action key.revoke --json'],
  status: ['sluice status', 'sluice status --url https://llm.example.org/ --admin-key @admin-key.txt'],
  doctor: ['sluice doctor', 'sluice doctor --config /etc/sluice/sluice.yaml --json'],
  backup: ['sluice backup /var/backups/sluice'],
  completion: ['sluice completion bash > /etc/bash_completion.d/sluice'],
}

/** To this command and all below it. */
export function addExamples(command: Command, words: readonly string[] = []): void {
  const lines = EXAMPLES[words.join(' ')] ?? []
  if (lines.length > 0) {
    const title = lines.length === 1 ? 'Example' : 'Examples'
    command.addHelpText('after', `\n${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`)
  }
  for (const one of command.commands) addExamples(one, [...words, one.name()])
}
