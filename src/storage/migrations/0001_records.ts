import { type Kysely, sql } from 'kysely';

const statements = [
  `create table incidents (
    id text primary key,
    cluster text not null,
    subject jsonb not null,
    title text not null,
    severity text not null,
    status text not null check (status in ('open', 'resolved')),
    refires integer not null default 0,
    run integer not null default 1,
    judged_run integer not null default 0,
    recheck_at timestamptz,
    progress jsonb not null,
    acknowledged_by text,
    fired_at timestamptz not null,
    opened_at timestamptz not null,
    resolved_at timestamptz,
    updated_at timestamptz not null,
    truncated_alerts integer not null default 0,
    rejected jsonb not null default '[]',
    external_url text not null default ''
  )`,
  'create index incidents_by_opening on incidents (opened_at desc)',
  'create index incidents_due on incidents (updated_at) where run > judged_run',
  'create index incidents_to_recheck on incidents (recheck_at) where recheck_at is not null',
  `create index incidents_resolved on incidents (resolved_at) where status = 'resolved'`,
  `create table correlation_keys (
    key text primary key,
    incident_id text references incidents on delete cascade
  )`,
  'create index correlation_keys_by_incident on correlation_keys (incident_id)',
  `create table alerts (
    incident_id text not null references incidents on delete cascade,
    id text not null,
    fingerprint text not null,
    status text not null check (status in ('firing', 'resolved')),
    alert json not null,
    received_at timestamptz not null,
    changed_at timestamptz not null,
    position bigint generated always as identity,
    primary key (incident_id, id)
  )`,
  `create table facts (
    incident_id text not null references incidents on delete cascade,
    run integer not null,
    layer text not null,
    body bytea not null,
    primary key (incident_id, run, layer)
  )`,
  // The body is compressed already.
  'alter table facts alter column body set storage external',
  `create table readings (
    incident_id text not null references incidents on delete cascade,
    run integer not null,
    layer text not null,
    reading json not null,
    primary key (incident_id, run, layer)
  )`,
  `create table verdicts (
    incident_id text not null references incidents on delete cascade,
    run integer not null,
    owner text not null,
    rule_set text not null,
    verdict json not null,
    routing json not null,
    escalation json,
    judged_at timestamptz not null,
    primary key (incident_id, run)
  )`,
  `create table outbox (
    incident_id text not null references incidents on delete cascade,
    slot text not null,
    position integer not null,
    text text not null,
    blocks jsonb not null,
    revision integer not null default 1,
    state text not null check (state in ('planned', 'sending', 'sent', 'failed')),
    channel text not null,
    ts text,
    attempts integer not null default 0,
    attempted_at timestamptz,
    uncertain_since timestamptz,
    not_before timestamptz,
    last_error text,
    primary key (incident_id, slot)
  )`,
  `create index outbox_to_send on outbox (incident_id) where state <> 'sent'`,
  // No reference: the trail outlives the incident.
  `create table audit (
    id bigint generated always as identity primary key,
    at timestamptz not null,
    incident_id text,
    actor text not null,
    action text not null,
    detail text not null
  )`,
  'create index audit_by_incident on audit (incident_id)',
  `create table heartbeats (
    id text primary key,
    cluster text not null,
    alertname text not null,
    status text not null,
    state text not null default 'expected',
    alert json not null,
    received_at timestamptz not null
  )`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
