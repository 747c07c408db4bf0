// @ts-check
/** CPU microseconds of choosing an endpoint for a conversation, among 4, 100 and 1,000: `node bench/gateways/choose-endpoint.mjs`. */
const { chooseEndpoint } = await import('../../dist/engines/remote/choose-endpoint.js')

const WARM_UP = 3000
const COUNT = 20_000

for (const size of [4, 100, 1000]) {
  const endpoints = Array.from({ length: size }, (_, index) => ({
    url: `http://10.0.${index >> 8}.${index & 255}/v1`,
    outstanding: index % 3,
  }))
  for (let index = 0; index < WARM_UP; index++) chooseEndpoint(endpoints, `warm-up ${index}`)
  const before = process.cpuUsage()
  for (let index = 0; index < COUNT; index++) chooseEndpoint(endpoints, `conversation ${index}`)
  const { user, system } = process.cpuUsage(before)
  console.log(`${size} endpoints: ${((user + system) / COUNT).toFixed(1)} us`)
}
