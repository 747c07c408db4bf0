/**
 * What a model of sentence-transformers is made of, by its modules.json: a transformer, the pooling of its vectors, and
 * what comes behind. llama.cpp computes the first two, and vectors are given the length 1 in any case.
 */
import { join } from 'node:path'
import type { ArchitecturePlan } from '../architectures/architecture-plan.ts'
import { badFile, quoted, unconvertible } from '../files/file-errors.ts'
import { isInsideRepo } from '../hub/hub-reference.ts'
import {
  isRecord,
  type JsonObject,
  parseJson,
  readJsonObject,
  readOptionalJsonObject,
  readOptionalText,
} from '../files/json-file.ts'

interface SentenceModule {
  /** A class of Python, with the packages that it is in. */
  readonly type: string
  /** Its name alone. */
  readonly kind: string
  /** Below that of modules.json; empty for the same. */
  readonly folder: string
}

const POOLING = 'Pooling'
const COMPUTED: readonly string[] = ['Transformer', POOLING, 'Normalize']
/** Of a pooling that stands behind the transformer, as nearly all do. */
const USUAL_FOLDER = '1_Pooling'

/** Where the pooling of a model is described, whether or not it is there. */
export async function findPoolingConfig(modulesPath: string, modelFolder: string): Promise<string> {
  const pooling = (await readModules(modulesPath)).find(isPooling)
  return join(modelFolder, pooling?.folder ?? USUAL_FOLDER, 'config.json')
}

/**
 * Null where the checkpoint says nothing of it.
 * @throws StartError for modules that would be left out
 */
export async function readPooling(
  plan: ArchitecturePlan,
  { modulesPath, poolingConfigPath }: { readonly modulesPath: string; readonly poolingConfigPath: string },
): Promise<JsonObject | null> {
  const modules = await readModules(modulesPath)
  const unknown = modules.find(({ kind }) => !COMPUTED.includes(kind))
  if (unknown !== undefined && makesVectors(plan, modules)) {
    throw unconvertible(
      { path: modulesPath },
      `its module ${quoted(unknown.type)} is not computed; ${COMPUTED.join(', ')} are`,
    )
  }
  return modules.some(isPooling)
    ? readJsonObject(poolingConfigPath)
    : readOptionalJsonObject(poolingConfigPath)
}

/** Rerankers and models that generate text may have modules too, which change nothing of what they are served for. */
function makesVectors(
  { isEncoder = false, isReranker = false }: ArchitecturePlan,
  modules: readonly SentenceModule[],
): boolean {
  return !isReranker && (isEncoder || modules.some(({ kind }) => kind.endsWith(POOLING)))
}

function isPooling({ kind }: SentenceModule): boolean {
  return kind === POOLING
}

/** None where there is no such file, or a file of another program. */
async function readModules(path: string): Promise<readonly SentenceModule[]> {
  const text = await readOptionalText(path)
  const list = text === null ? null : parseJson(path, text)
  if (!Array.isArray(list)) return []
  return list.map((entry: unknown) => {
    const { type, path: folder } = isRecord(entry) ? entry : {}
    if (typeof type !== 'string' || typeof folder !== 'string') {
      throw badFile(path, 'is not usable: each module must have a "type" and a "path"')
    }
    if (folder !== '' && !isInsideRepo(folder)) {
      throw badFile(path, `is not usable: ${quoted(folder)} is no folder of the model`)
    }
    return { type, kind: type.slice(type.lastIndexOf('.') + 1), folder }
  })
}
