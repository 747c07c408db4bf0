// @ts-check
/** What the compiler knows of the package in a CommonJS application. Never runs: type checking it is the test. */
const { createServer } = require('sluice')
const { createLightServer } = require('sluice/light')

createLightServer({ port: 0 }).route('GET', '/users/{id}', ({ params }) => params.id.toUpperCase())
// @ts-expect-error -- there is no such option
createLightServer({ prot: 0 })
// @ts-expect-error -- a server is given when it listens
createServer({ port: 0 }).address.trim()
