// @ts-check
/** One Fastify route and nothing else: answers with the text it is given. What the passthrough rate is measured against. */
import Fastify from 'fastify'

const [text = ''] = process.argv.slice(2)
const app = Fastify()
app.post('/v1/generate', (_, reply) =>
  reply.header('content-type', 'application/json; charset=utf-8').send(text),
)
process.stdout.write(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
