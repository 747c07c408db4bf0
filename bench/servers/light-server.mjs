// @ts-check
/** The light server as an application starts it, with two worker threads. For `light.mjs`. */
import { createLightServer } from '../../dist/light.js'

const server = createLightServer({ port: 0, workers: 2 })
const { port } = await server.listen()
process.send?.({ port })
// Asked before and after a measurement: what the process, its threads included, has computed so far.
process.on('message', () => process.send?.(process.cpuUsage()))
process.on('disconnect', () => process.exit())
