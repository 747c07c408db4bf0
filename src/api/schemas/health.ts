/** `GET /v1/health` and `GET /v1/ready`. */
import { z } from 'zod'

export const health = z
  .object({
    status: z.literal('ok'),
    version: z.string().describe('Version of the interface.'),
    models_loaded: z.int().describe('Models that can take work.'),
    uptime_seconds: z.number(),
  })
  .meta({ id: 'Health' })

export const ready = z.object({ status: z.literal('ready') }).meta({ id: 'Ready' })
