import type { Alert, Subject } from './alert.ts';
import type { Layer } from './layer.ts';

export type IncidentStatus = 'open' | 'resolved';
export type Severity = 'critical' | 'warning' | 'info' | 'none';

/** How far the current triage run has come, per layer. */
export type LayerProgress = 'waiting' | 'reading' | 'read' | 'failed';

export interface Incident {
  id: string;
  cluster: string;
  subject: Subject;
  /** Alert name of the first alert: the incident's title together with the subject. */
  title: string;
  severity: Severity;
  status: IncidentStatus;
  /** How often it fired again after a resolve. */
  refires: number;
  run: number;
  progress: Record<Layer, LayerProgress>;
  acknowledgedBy: string | null;
  assignedTo: string | null;
  /** Who closed it; null while it is open, and where its alerts resolved. */
  resolvedBy: string | null;
  firedAt: string;
  openedAt: string;
  resolvedAt: string | null;
  updatedAt: string;
  /** Alerts Alertmanager cut from its last notification. */
  truncatedAlerts: number;
}

export interface StoredAlert extends Alert {
  incidentId: string;
  receivedAt: string;
}
