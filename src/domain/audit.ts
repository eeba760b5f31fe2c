/** One line of an incident's history: who did what. */
export interface AuditEntry {
  /** ISO 8601. */
  at: string;
  incidentId: string | null;
  /** `system`, a Slack user id or an operator's name. */
  actor: string;
  action: string;
  detail: string;
}
