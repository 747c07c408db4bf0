// @ts-check
/** The figures a round can come to: what they are called in tables and plots, their unit, and which way is better. */

/** @typedef {{ label: string, unit: string, isBetter: 'more' | 'less' | 'neither' }} MetricInfo */

/** @param {string} label @returns {[string, MetricInfo][]} */
const percentiles = (label) =>
  [50, 90, 99].map((percent) => [
    `${label.split(' ')[0]?.toLowerCase()}P${percent}Ms`,
    { label: `${label} p${percent}`, unit: 'ms', isBetter: 'less' },
  ])

/** @type {Map<string, MetricInfo>} */
export const METRICS = new Map([
  ['outputTokensPerSecond', { label: 'output tokens/s', unit: '/s', isBetter: 'more' }],
  ['prefillTokensPerSecond', { label: 'prompt tokens/s', unit: '/s', isBetter: 'more' }],
  ['decodeTokensPerSecond', { label: 'output tokens/s behind the prompt', unit: '/s', isBetter: 'more' }],
  ['requestsPerSecond', { label: 'requests/s', unit: '/s', isBetter: 'more' }],
  ['latencyP50Ms', { label: 'latency p50', unit: 'ms', isBetter: 'less' }],
  ['latencyP99Ms', { label: 'latency p99', unit: 'ms', isBetter: 'less' }],
  ['firstAnswerMs', { label: 'start to first answer', unit: 'ms', isBetter: 'less' }],
  ['listeningMs', { label: 'start to listening', unit: 'ms', isBetter: 'less' }],
  ['ownKeysP50Ms', { label: 'GET /v1/keys p50', unit: 'ms', isBetter: 'less' }],
  ['adminKeysP50Ms', { label: 'GET /v1/admin/keys?limit=100 p50', unit: 'ms', isBetter: 'less' }],
  ['ownUsageP50Ms', { label: 'GET /v1/usage p50', unit: 'ms', isBetter: 'less' }],
  ['ownUsageSinceP50Ms', { label: 'GET /v1/usage?since p50', unit: 'ms', isBetter: 'less' }],
  ['adminUsageP50Ms', { label: 'GET /v1/admin/usage p50', unit: 'ms', isBetter: 'less' }],
  ['adminUsageSinceP50Ms', { label: 'GET /v1/admin/usage?since p50', unit: 'ms', isBetter: 'less' }],
  ['residentMb', { label: 'resident memory', unit: 'MB', isBetter: 'less' }],
  ...percentiles('TTFT'),
  ['gapP99Ms', { label: 'ITL p99 while prompts arrive', unit: 'ms', isBetter: 'less' }],
  ['gapMaxMs', { label: 'longest ITL while prompts arrive', unit: 'ms', isBetter: 'less' }],
  ...percentiles('ITL'),
  ['itlMaxMs', { label: 'longest ITL', unit: 'ms', isBetter: 'less' }],
  ...percentiles('E2E'),
  ...percentiles('Queue time'),
  ['requests', { label: 'requests', unit: '', isBetter: 'neither' }],
  ['errors', { label: 'errors', unit: '', isBetter: 'less' }],
  ['cpuSeconds', { label: 'CPU', unit: 's', isBetter: 'less' }],
  ['cpuMsPerToken', { label: 'CPU per token', unit: 'ms', isBetter: 'less' }],
  ['cpuMicrosecondsPerRequest', { label: 'CPU per request', unit: 'µs', isBetter: 'less' }],
  ['peakMemoryMb', { label: 'peak memory', unit: 'MB', isBetter: 'less' }],
  ['httpMemoryMb', { label: 'peak memory of the HTTP process', unit: 'MB', isBetter: 'less' }],
  ['engineMemoryMb', { label: 'peak memory of the engine', unit: 'MB', isBetter: 'less' }],
  ['clientCpuSeconds', { label: 'CPU of the client', unit: 's', isBetter: 'neither' }],
  ['seconds', { label: 'duration', unit: 's', isBetter: 'neither' }],
])

/** Three digits that count; whole numbers from a hundred on. @param {number} figure */
export function formatFigure(figure) {
  const magnitude = Math.abs(figure)
  if (Number.isInteger(figure) || magnitude >= 99.95) return Math.round(figure).toLocaleString('en-US')
  return figure.toFixed(magnitude >= 9.995 ? 1 : magnitude >= 0.0995 ? 2 : 3)
}
