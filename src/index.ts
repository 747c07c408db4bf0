/**
 * What an application imports from `sluice`: a whole server from code, the registry its models live in, and the
 * scheduler by itself. The light embeddable server is `sluice/light`.
 */
// oxlint-disable-next-line import/no-unassigned-import -- for what it does, before any class that is disposed of
import './core/contexts/dispose-symbols.ts'

export { createServer } from './app/create-server.ts'
export type { RunningServer, ServerOptions } from './app/create-server.ts'
export type { ServerHooks } from './app/models/server-hooks.ts'
export type { NoOperatorKeyReason } from './app/state.ts'
export type { PullProgress } from './checkpoints/hub/pull-model.ts'
export type { ConfiguredModel } from './config/model-kinds.ts'
export type { ServerConfig } from './config/server-config.ts'

export type { Chat, ChatMessage } from './protocol/chat.ts'
export { ModelRegistry } from './models/registry.ts'
export type {
  ModelLease,
  ModelRecord,
  ModelState,
  LoadHooks,
  OpenEngine,
  OutlineModel,
  RegisterOptions,
  RegistryOptions,
  ServingModel,
  ServingModels,
} from './models/registry.ts'
export type { EngineProcessId } from './models/model-loader.ts'
export type { MemoryDemand } from './models/residency/load-rooms.ts'
export type { ModelSequences } from './models/sequence-counts.ts'
export type { ModelPolicy } from './protocol/model-policy.ts'

export { ContinuousBatchScheduler } from './scheduler/continuous-batch-scheduler.ts'
export type { SchedulerEvent, SchedulerOptions } from './scheduler/continuous-batch-scheduler.ts'
export type { ScheduledRequest } from './scheduler/sequence.ts'
export type { SchedulePolicy } from './core/choices/schedule-policy.ts'

export type { AdapterOptions, OpenedAdapter } from './protocol/adapter.ts'
export type { Constraint } from './protocol/constraint.ts'
export type {
  EmbeddingRequest,
  EndRules,
  Engine,
  EngineRequest,
  EngineStatus,
  Prompt,
  QueuePlace,
  Sampling,
  SequenceOptions,
  TextPrompt,
  TokenizedText,
  TokenizeRequest,
  TokenPrompt,
} from './protocol/engine.ts'
export type { AnswerEvent, EngineEvent, FinishReason } from './protocol/engine-events.ts'
export type { ModelInfo, ModelOutline } from './protocol/model-info.ts'
export type {
  BeamChoice,
  BeamFork,
  BeamPlan,
  BeamRoom,
  BeamRun,
  BeamStart,
  HeldPrefix,
  SeatRun,
  SlotRun,
  SlotStart,
  StepOutput,
  StepPlan,
} from './protocol/model-runner.ts'

export type {
  AdapterModelSource,
  LocalModelOptions,
  LocalModelSource,
  ModelSource,
  RegisteredSource,
  RemoteModelSource,
} from './protocol/model-source.ts'
export { SecretText } from './core/text/secret-text.ts'

export { ServiceError, StartError } from './core/errors.ts'
export type { ErrorCode } from './core/errors.ts'
export { systemClock, VirtualClock } from './core/clock.ts'
export type { Clock, SleepingClock } from './core/clock.ts'
