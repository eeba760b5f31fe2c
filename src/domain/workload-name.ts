/** Kubernetes draws suffixes from these letters (apimachinery `rand.SafeEncodeString`): no vowels, no 0, 1, 3. */
const safe = '[bcdfghjklmnpqrstvwxz2456789]';

/** Name shapes of generated pods, the most telling first. `$1` is the workload. */
const podShapes = [
  // CronJob: <name>-<scheduled minute>-<suffix>
  new RegExp(`^(.+)-\\d{8,10}-${safe}{5}$`),
  // Deployment: <name>-<template hash>-<suffix>; a hash is the decimal of 32 bits, 8 to 10 digits in practice
  new RegExp(`^(.+)-${safe}{8,10}-${safe}{5}$`),
  // DaemonSet, Job, ReplicaSet without a Deployment: <name>-<suffix>
  new RegExp(`^(.+)-${safe}{5}$`),
  // StatefulSet: <name>-<ordinal>
  /^(.+)-\d{1,5}$/,
];

/**
 * The workload that a pod's name points to; the pod's own name where it has no generated shape. A guess by name, good
 * enough to recognise siblings of one workload, and never used to look an object up.
 */
export const workloadOfPodName = (pod: string): string => {
  for (const shape of podShapes) {
    const workload = shape.exec(pod)?.[1];
    if (workload) return workload;
  }
  return pod;
};

/** The CronJob that a Job's name points to: `<name>-<scheduled minute>`; the Job's own name otherwise. */
export const workloadOfJobName = (job: string): string => /^(.+)-\d{8,10}$/.exec(job)?.[1] ?? job;
