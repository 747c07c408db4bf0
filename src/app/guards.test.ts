import { expect, it, onTestFinished } from 'vitest'
import { parseCommandLine } from '../cli/command-line.ts'
import { completeConfig, resolveConfig } from '../config/resolve.ts'
import { VirtualClock } from '../core/clock.ts'
import { MAX_OFFENCES } from '../limits/memory/bans.ts'
import { MemoryState } from '../limits/memory/memory-state.ts'
import { createLog } from '../telemetry/log.ts'
import { NO_MODEL_STATES } from '../telemetry/model-metrics.ts'
import { Metrics } from '../telemetry/metrics.ts'
import { createGuards } from './guards.ts'

it('the firewall counts what it refuses and logs a ban without the address', async () => {
  const lines: string[] = []
  const metrics = new Metrics({ models: NO_MODEL_STATES, isReady: () => true })
  const log = createLog({ destination: { write: (line) => void lines.push(line) } })
  const { requests, bans } = new MemoryState(new VirtualClock())
  const guards = createGuards(completeConfig({ enableFirewall: true }), { requests, bans, metrics, log })
  onTestFinished(() => guards.close())

  const address = '203.0.113.7'
  await guards.firewall?.judge({ address, target: '/.env', rawHeaders: [] })
  for (let offence = 0; offence < MAX_OFFENCES; offence++)
    await guards.firewall?.recordAnswer(address, 404, 'not_found')

  expect(await metrics.render()).toContain('sluice_guard_hits_total{guard="firewall",rule="scanner-path"} 1')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'warn', count: 1, seconds: 60, msg: 'an address was banned' },
  ])
  expect(lines.join()).not.toContain(address)
})

it.each([
  [[], true],
  [['--disable-prompt-injection'], false],
])('prompts are scanned unless that is switched off: %j', (words, isScanned) => {
  const commandLine = parseCommandLine(['serve', ...words])
  const config = resolveConfig({ flags: commandLine.kind === 'serve' ? commandLine.flags : {} })
  const metrics = new Metrics({ models: NO_MODEL_STATES, isReady: () => true })
  const { requests, bans } = new MemoryState(new VirtualClock())
  const log = createLog({ destination: { write: () => {} } })
  const guards = createGuards(config, { requests, bans, metrics, log })
  onTestFinished(() => guards.close())
  expect(guards.promptGuard !== null).toBe(isScanned)
})
