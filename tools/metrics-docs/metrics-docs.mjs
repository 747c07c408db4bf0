// @ts-check
/**
 * docs/metrics.md, made from template.md and the metrics as they are defined: all that a server may have, whatever its options. A test
 * fails when the committed file is not what this gives.
 * @import { MetricDefinition } from '../../dist/telemetry/metrics.js'
 */
import { readFileSync } from 'node:fs'
import { NO_MODEL_STATES } from '../../dist/telemetry/model-metrics.js'
import { Metrics } from '../../dist/telemetry/metrics.js'
import { UpstreamMetrics } from '../../dist/telemetry/upstream-metrics.js'

/** Of the process, as other programs have them: the page names them together. */
const OWN = /^sluice_/

/** @returns {readonly MetricDefinition[]} */
function allDefinitions() {
  const metrics = new Metrics({
    models: NO_MODEL_STATES,
    isReady: () => true,
    build: { version: '', interfaceVersion: '' },
    isRedisUp: () => true,
    isDatabaseUp: { accounts: () => true },
    certificateExpiresAt: () => null,
    budgetUse: () => [],
    upstreams: new UpstreamMetrics(),
  })
  return metrics.definitions().filter(({ name }) => OWN.test(name))
}

/** @returns {string} */
export function renderMetricsDocs() {
  const rows = allDefinitions().map(({ name, type, help, labels }) => {
    const named = labels.map((label) => `\`${label}\``).join(', ')
    return `| \`${name}\` | ${type} | ${help.replaceAll('|', '\\|')} | ${named} |`
  })
  const template = readFileSync(new URL('template.md', import.meta.url), 'utf8')
  return template.replace('{{metrics}}', () => rows.join('\n'))
}
