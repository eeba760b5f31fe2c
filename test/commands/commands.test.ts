import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandDeps, Speaker } from '../../src/commands/command.ts';
import { loadCommands } from '../../src/commands/load.ts';
import { commandRunner } from '../../src/commands/run.ts';
import { onDemand } from '../../src/intake/on-demand.ts';
import { loadMessages } from '../../src/slack/messages.ts';
import { startInstall, steerableSteps } from '../incidents/install.ts';
import { alert, notification } from '../incidents/samples.ts';
import { eventually } from '../services/eventually.ts';
import { describeBackends } from '../storage/backends.ts';

const handlers = await loadCommands('handlers/commands');
const messages = loadMessages('templates/messages', 'en');
const now = () => new Date().toISOString();

describeBackends('commands', (backend) => {
  let install: Awaited<ReturnType<typeof startInstall>>;
  let run: ReturnType<typeof commandRunner>;
  let runWithoutDefault: ReturnType<typeof commandRunner>;
  let id: string;
  const store = () => backend().open.records.store;
  const speaker = (more: Partial<Speaker> = {}): Speaker => ({
    actor: 'U1',
    incidentId: null,
    hasForms: false,
    ...more,
  });
  const say = async (text: string, more: Partial<Speaker> = {}) => (await run(text, speaker(more))).lines.join('\n');

  beforeEach(async () => {
    install = await startInstall(backend().open.records, { pool: backend().open.pool }, steerableSteps());
    const deps: CommandDeps = {
      incidents: {
        ...install.incidents,
        triage: (subject, actor) => install.incidents.triage(onDemand(subject, actor, now()), actor),
      },
      store: store(),
      now,
      say: messages.say,
      clusterNamed: (name) => (name === undefined || name === 'prod-1' ? 'prod-1' : null),
      explainOwner: async (_cluster, workload) => (workload === 'shop/cart' ? ['shop/cart belongs to Shop'] : null),
    };
    run = commandRunner(handlers, deps);
    runWithoutDefault = commandRunner(handlers, { ...deps, clusterNamed: () => null });
    const [outcome] = await install.incidents.receive(notification(now(), [alert()]));
    id = outcome!.incidentId;
  });
  afterEach(() => install.stop());

  const judged = async () => {
    install.work();
    await eventually(async () => (await store().record(id))?.verdict?.owner).toBe('app');
  };

  it('acknowledges, assigns, notes, closes and opens by short id, and keeps the trail', async () => {
    const short = id.slice(0, 8);
    expect(await say(`ack ${short}`)).toBe('Acknowledged.');
    expect(await say(`ack ${short}`, { actor: 'U2' })).toContain('Somebody else was first');
    expect(await say(`assign ${short} <@U3|carol>`)).toBe('Assigned.');
    expect(await say(`assign ${short}`)).toContain('Whom?');
    expect(await say(`note ${short} asked the "whole team"`)).toBe('Noted.');
    expect(await say(`resolve ${short} rolled back`)).toBe('Resolved.');
    expect(await say(`reopen ${short}`)).toBe('Open again.');
    expect((await store().record(id))!.incident).toMatchObject({ status: 'open', assignedTo: 'U3' });
    expect((await store().auditTrail(id)).map(({ action, detail }) => [action, detail])).toEqual([
      ['acknowledge', ''],
      ['assign', 'U3'],
      ['note', 'asked the whole team'],
      ['resolve', 'rolled back'],
      ['reopen', ''],
    ]);
    expect(await say(`timeline ${short}`)).toMatch(
      /Fired: KubePodCrashLooping[\s\S]*note \(U1\): asked the whole team/,
    );
  });

  it('means the incident of the thread it is said in', async () => {
    expect(await say('ack', { incidentId: id })).toBe('Acknowledged.');
    expect(await say('note deadbeef is a word here', { incidentId: id })).toBe('Noted.');
    expect(await say('ack')).toContain('Which incident?');
    expect(await say('ack deadbeef')).toContain('No incident begins with deadbeef');
  });

  it('lists by owner, state, person, party and cluster', async () => {
    await judged();
    expect(await say('list')).toContain(`${id.slice(0, 8)} KubePodCrashLooping, Deployment shop/cart, prod-1`);
    expect(await say('list --owner app')).toContain(id.slice(0, 8));
    for (const none of ['--owner cloud', '--state resolved', 'mine', '--team growth'])
      expect(await say(`list ${none}`)).toBe('No incident matches.');
    await say(`ack ${id.slice(0, 8)}`);
    expect(await say('list mine')).toContain(id.slice(0, 8));
    await say(`handoff platform ${id.slice(0, 8)} the node was ours`);
    expect(await say('list --owner platform --cluster prod-1')).toContain(id.slice(0, 8));
    expect(await say('list --owner nobody')).toContain('is no owner');
    expect(await say('list --cluster prod-9')).toContain('no cluster prod-9');
  });

  it('asks which cluster is meant where none is the default', async () => {
    for (const text of ['triage deployment/web -n shop', 'owner shop/cart'])
      expect((await runWithoutDefault(text, speaker())).lines.join(' ')).toContain('Which cluster?');
  });

  it('hands over with a reason, or by a form where there are forms', async () => {
    expect(await say(`handoff platform ${id}`)).toContain('no verdict yet');
    await judged();
    const asked = await run(`handoff platform ${id}`, speaker({ hasForms: true }));
    expect(asked.form).toEqual({ name: 'hand-off', incidentId: id });
    expect(await say(`handoff nobody ${id} x`)).toContain('no such team');
    expect(await say(`handoff infra ${id} "it was ours" --wrong`)).toBe('Handed over to infra.');
    expect((await store().record(id))!.handOff).toMatchObject({ corrects: true, why: 'it was ours' });
    expect(await say(`show ${id}`)).toContain('platform team');
  });

  it('says how often verdicts held, per owner, confidence and corrected rule', async () => {
    expect(await say('accuracy')).toContain('No verdict of that time');
    await judged();
    await say(`ack ${id}`);
    expect(await say('accuracy')).toContain('1 of 1 held (100%)');
    await say(`handoff platform ${id} "it was ours" --wrong`);
    const lines = await say('accuracy --since 7d');
    expect(lines).toContain('Verdicts of the last 7d: 0 of 1 held (0%)');
    expect(lines).toMatch(/application team: 0 of 1[\s\S]*high confidence: 0 of 1[\s\S]*Acknowledged after/);
    expect(await say('accuracy --since ever')).toContain('Since when?');
  });

  it('silences only with a time and a reason, and says where no Alertmanager is configured', async () => {
    expect(await say(`silence ${id}`)).toContain('For how long?');
    expect(await say(`silence ${id} 4h`)).toContain('Why?');
    expect(await say(`silence ${id} 90d too long`)).toContain('at most 30 days');
    expect(await say(`silence ${id} 4h the fix rolls out`)).toContain('Set alertmanagerUrl');
    expect(await say(`silence ${id} off`)).toContain('Set alertmanagerUrl');
  });

  it('triages an object on demand, once', async () => {
    const first = await say('triage deployment/cart -n shop');
    expect(first).toMatch(/Reading the evidence about deployment\/cart in prod-1: incident [0-9a-f]{8}/);
    expect(await say('triage deployment cart -n shop')).toBe(first.replace('deployment/cart', 'deployment cart'));
    const [asked] = await store().search({}, 1);
    expect(asked!.incident).toMatchObject({
      title: 'TriageOnDemand',
      severity: 'none',
      subject: { kind: 'Deployment', namespace: 'shop', name: 'cart' },
    });
    expect(await say('triage deployment/cart')).toContain('add -n <namespace>');
    expect(await say('triage gadget/cart -n shop')).toContain('cannot triage');
  });

  it('says who owns a workload', async () => {
    expect(await say('owner shop/cart')).toBe('shop/cart belongs to Shop');
    expect(await say('owner shop/none')).toContain('was not found');
  });

  it('answers a wrong command with the nearest right one, and help with all', async () => {
    expect(await say('resovle x')).toContain('Did you mean: resolve [incident] [reason]');
    expect(await say('list --onwer app')).toContain('There is no option onwer');
    const help = await say('');
    for (const { name } of handlers) expect(help).toContain(`\n${name} `);
    expect(await say('kubernetes')).toContain('Commands:');
  });
});

describe('the folder of commands', () => {
  it('says of each what it does', () => {
    for (const { name } of handlers) expect(messages.say(`command.${name}`)).toBeTruthy();
  });
});
