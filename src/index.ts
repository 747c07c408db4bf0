/**
 * What an application imports from `sluice`: a whole server from code, the registry its models live in, and the
 * scheduler by itself. The light embeddable server is `sluice/light`.
 */
// oxlint-disable-next-line import/no-unassigned-import -- for what it does, before any class that is disposed of
import './core/contexts/dispose-symbols.ts'

export { createServer } from './app/create-server.ts'
export type { RunningServer, ServerOptions } from './app/create-server.ts'
export type { ServerHooks } from './app/models/server-hooks.ts'
export type { ServerConfig } from './config/server-config.ts'

export type { ChatMessage } from './protocol/chat.ts'
export { ModelRegistry } from './models/registry.ts'
export type {
  ModelLease,
  ModelRecord,
  ModelState,
  LoadHooks,
  OpenEngine,
  RegisterOptions,
  RegistryOptions,
} from './models/registry.ts'

export { ContinuousBatchScheduler } from './scheduler/continuous-batch-scheduler.ts'
export type { SchedulerEvent, SchedulerOptions } from './scheduler/continuous-batch-scheduler.ts'
export type { ScheduledRequest } from './scheduler/sequence.ts'
export type { SchedulePolicy } from './core/choices/schedule-policy.ts'

export type {
  Engine,
  EngineRequest,
  Prompt,
  QueuePlace,
  Sampling,
  SequenceOptions,
} from './protocol/engine.ts'
export type { EngineEvent, FinishReason } from './protocol/engine-events.ts'
export type { ModelInfo, ModelOutline } from './protocol/model-info.ts'
export type {
  BeamChoice,
  BeamFork,
  BeamPlan,
  BeamRoom,
  BeamRun,
  BeamStart,
  SeatRun,
  SlotRun,
  SlotStart,
  StepOutput,
  StepPlan,
} from './protocol/model-runner.ts'

export type {
  LocalModelSource,
  ModelSource,
  RegisteredSource,
  RemoteModelSource,
} from './protocol/model-source.ts'
export { SecretText } from './core/text/secret-text.ts'

export { ServiceError, StartError } from './core/errors.ts'
export type { ErrorCode } from './core/errors.ts'
export { systemClock, VirtualClock } from './core/clock.ts'
export type { Clock } from './core/clock.ts'
