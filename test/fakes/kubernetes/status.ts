import type { Reply } from './store.ts';

/** A Status object, as the API server answers every failure. */
export const status = (code: number, reason: string, message: string, more: object = {}): Reply => ({
  status: code,
  body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code, ...more },
});

export const forbidden = (verb: string, resource: string, group: string, namespace: string | undefined): Reply => {
  const scope = namespace ? `in the namespace "${namespace}"` : 'at the cluster scope';
  const message = `${resource} is forbidden: User "faultline" cannot ${verb} resource "${resource}" in API group "${group}" ${scope}`;
  return status(403, 'Forbidden', message, { details: { group, kind: resource } });
};
