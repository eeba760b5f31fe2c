import type { KubeObject } from '../../domain/kubernetes.ts';

export interface MachineSize {
  cpu: number;
  /** Bytes. */
  memory: number;
}

const gib = 2 ** 30;
/** GiB per vCPU of the usual families; others are not guessed. */
const awsRatio: Record<string, number> = { c: 2, m: 4, r: 8, x: 16, z: 8, i: 8 };
const awsSizes: Record<string, number> = { medium: 1, large: 2, xlarge: 4 };
const azureRatio: Record<string, number> = { F: 2, D: 4, E: 8 };
const gcpRatio: Record<string, number> = { highcpu: 1, standard: 4, highmem: 8 };

/** vCPU and nominal memory that a type's name tells; undefined where the name does not. */
export const sizeOfType = (type: string): MachineSize | undefined => {
  const aws = /^([a-z])\d[a-z-]*\.(medium|large|xlarge|(\d+)xlarge)$/.exec(type);
  if (aws && awsRatio[aws[1]!]) {
    const cpu = aws[3] ? Number(aws[3]) * 4 : awsSizes[aws[2]!]!;
    return { cpu, memory: cpu * awsRatio[aws[1]!]! * gib };
  }
  const azure = /^Standard_([DEF])(\d+)[a-z]*(_v\d)?$/.exec(type);
  if (azure) return { cpu: Number(azure[2]), memory: Number(azure[2]) * azureRatio[azure[1]!]! * gib };
  const gcp = /^[a-z]\d[a-z]?-(highcpu|standard|highmem)-(\d+)$/.exec(type);
  if (gcp) return { cpu: Number(gcp[2]), memory: Number(gcp[2]) * gcpRatio[gcp[1]!]! * gib };
  return undefined;
};

/** Types that a NodePool lists by name; empty where it describes them otherwise. */
export const typesOfPool = (pool: KubeObject): string[] =>
  (pool.spec?.template?.spec?.requirements ?? [])
    .filter((entry: any) => entry.key === 'node.kubernetes.io/instance-type' && entry.operator === 'In')
    .flatMap((entry: any) => entry.values ?? []);

/** The largest machine that a pool which lists its types can make; undefined where any type's name does not tell. */
export const largestOf = (pool: KubeObject): MachineSize | undefined => extreme(pool, Math.max);

/** The smallest machine of a pool: what a limit must still have room for. */
export const smallestOf = (pool: KubeObject): MachineSize | undefined => extreme(pool, Math.min);

const extreme = (pool: KubeObject, choose: (...values: number[]) => number): MachineSize | undefined => {
  const sizes = typesOfPool(pool).map(sizeOfType);
  if (sizes.length === 0 || sizes.includes(undefined)) return undefined;
  return { cpu: choose(...sizes.map((size) => size!.cpu)), memory: choose(...sizes.map((size) => size!.memory)) };
};
