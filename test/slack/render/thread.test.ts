import { describe, expect, test } from 'vitest';
import type { ThreadMessage } from '../../../src/domain/message.ts';
import type { IncidentView } from '../../../src/domain/view.ts';
import { limitProblems } from '../../../src/slack/limits.ts';
import { loadMessages } from '../../../src/slack/messages.ts';
import { split } from '../../../src/slack/render/split.ts';
import { renderThread } from '../../../src/slack/render/thread.ts';
import { refuseBlocks } from '../../fakes/slack/validate.ts';
import { evidence, incident, incidentView, reading, storedAlert, verdict, views } from '../../fakes/view.ts';
import { blocksOf, leaves, wordsOf } from '../words-of.ts';

const messages = loadMessages('templates/messages', 'en');
const render = (view: IncidentView): ThreadMessage[] => renderThread(view, messages);
const slots = (view: IncidentView): string[] => render(view).map((message) => message.slot);
const inSlot = (view: IncidentView, slot: string): ThreadMessage => {
  const message = render(view).find((candidate) => candidate.slot === slot);
  if (!message) throw new Error(`no ${slot} among ${slots(view)}`);
  return message;
};
const buttons = (view: IncidentView): string[] =>
  blocksOf(inSlot(view, 'root'), 'actions').flatMap((block) => block.elements.map((e: any) => e.action_id));
const mentions = (view: IncidentView): string[] =>
  render(view).flatMap((message) => JSON.stringify(message).match(/<[@!#](?!date)[^>]*>/g) ?? []);

test.each(Object.entries(views))(
  '%s: every message fits, is accepted by Slack and is the same each time',
  (_, view) => {
    const thread = render(view());
    expect(thread[0]?.slot).toBe('root');
    expect(new Set(thread.map((message) => message.slot)).size).toBe(thread.length);
    for (const message of thread) {
      expect(limitProblems(message.blocks as any, message.text)).toEqual([]);
      expect(refuseBlocks(message.blocks)).toBeNull();
    }
    expect(render(view())).toEqual(thread);
  },
);

test('the lock screen carries severity, subject, owner and first action', () => {
  const { text } = inSlot(views.platform(), 'root');
  expect(text).toContain('Critical');
  expect(text).toContain('Deployment media/preview');
  expect(text).toContain('Cluster platform (platform team), high confidence');
  expect(text).toContain('First: Raise spec.limits.cpu of NodePool general');
});

test('the card says who owns it, how that is known, why, what to do, and what became of each layer', () => {
  const words = wordsOf(inSlot(views.platform(), 'root'));
  expect(words).toContain('the directory names Cluster platform for NodePools of shop-eu');
  expect(words).toContain('NodePool general is at its cpu limit (48 of 48)');
  expect(words).toContain('2 of 5 replicas of media/preview are pending');
  expect(words).toMatch(/✅\s+Cloud: cleared · all 12 EC2 instances pass both status checks/);
  expect(words).toMatch(/🔴\s+Platform: implicated/);
  expect(words).toContain('<!date^1795162351^{date_short_pretty} {time_secs}|2026-11-20 08:12:31 UTC>');
});

test('links: page, runbook, dashboard, expression, Alertmanager; each once', () => {
  const view = incidentView({ alerts: [storedAlert(), storedAlert({ fingerprint: 'other' })] });
  const links = leaves(inSlot(view, 'root').blocks).filter((leaf) => leaf.type === 'link');
  expect(links.map((leaf) => leaf.text)).toEqual([
    'Incident page',
    'Runbook',
    'Dashboard (grafana.example.com)',
    'Alert expression',
    'Alertmanager',
  ]);
});

test('an address that is no plain web address is counted, not shown', () => {
  const annotations = { runbook_url: 'javascript:alert(1)', dashboard: 'https://good.example@evil.example/' };
  const root = inSlot(incidentView({ alerts: [storedAlert({ annotations })] }), 'root');
  expect(wordsOf(root)).toContain('2 links are not shown');
  expect(JSON.stringify(root)).not.toContain('javascript');
});

test('replies: implicated and unknown layers, verdict, next steps, escalation; nothing of cleared layers', () => {
  expect(slots(views.platform())).toEqual(['root', 'layer-platform', 'verdict', 'next-steps', 'escalation']);
  expect(slots(views.undetermined())).toEqual(['root', 'layer-platform', 'layer-app', 'verdict']);
  expect(slots(views.running())).toEqual(['root']);
});

test('a layer that nothing speaks for or against gets a reply only where the verdict is open', () => {
  const silent = { layer: 'app', status: 'unknown', missing: 'its pods restarted', fix: 'look', silent: true } as const;
  const withSilent = (view: IncidentView): IncidentView => ({
    ...view,
    verdict: { ...view.verdict!, layers: [...view.verdict!.layers.filter(({ layer }) => layer !== 'app'), silent] },
  });
  const settled = withSilent(views.platform());
  expect(slots(settled)).not.toContain('layer-app');
  expect(wordsOf(inSlot(settled, 'root'))).toMatch(/its pods restarted[\s\S]*Look/);
  expect(slots(withSilent(views.undetermined()))).toContain('layer-app');
});

test("a layer's reply holds the machine's text literally, uid and reproduction; the verdict says what none of it shows", () => {
  const reply = inSlot(views.platform(), 'layer-platform');
  const literal = blocksOf(reply, 'rich_text').flatMap((block) =>
    block.elements.filter((element: any) => element.type === 'rich_text_preformatted'),
  );
  expect(literal[0].elements[0].text).toContain('0/12 nodes are available: 12 Insufficient cpu.');
  const words = wordsOf(reply);
  expect(words).toContain('8f14e45f-ceea-467f-a5a3-1b2c3d4e5f60');
  expect(words).toContain('kubectl get events -n media');
  expect(words).toContain('2026-11-20 08:12:31 UTC');
  const view = views.platform();
  expect(view.verdict!.cannotShow.length).toBeGreaterThan(0);
  for (const limit of view.verdict!.cannotShow) expect(wordsOf(inSlot(view, 'verdict'))).toContain(limit);
});

test('evidence of the objects of a layer that is not at fault is told with the owner, whom it speaks against', () => {
  const view = incidentView();
  const [first] = view.verdict!.evidence;
  const piece = { ...first!, layer: 'app' as const, object: 'Pod media/preview-away' };
  const seen = { ...view, verdict: { ...view.verdict!, evidence: [piece] } };
  expect(wordsOf(inSlot(seen, 'layer-platform'))).toContain('Pod media/preview-away');
  const unknown = { layer: 'app', status: 'unknown', missing: 'no events', fix: 'grant `list events`' } as const;
  const layers = seen.verdict.layers.map((layer) => (layer.layer === 'app' ? unknown : layer));
  const open = { ...seen, verdict: { ...seen.verdict, layers } };
  expect(wordsOf(inSlot(open, 'layer-app'))).not.toContain('Pod media/preview-away');
  const undetermined = { ...open, verdict: { ...open.verdict, owner: 'undetermined' as const, layers: [unknown] } };
  expect(wordsOf(inSlot(undetermined, 'layer-app'))).toContain('Pod media/preview-away');
});

test('what a sentence marks as code is shown as code, without its marks', () => {
  const view = views.undetermined();
  const layers = [
    { layer: 'app', status: 'unknown', missing: 'no events', fix: 'grant `list events` in media' } as const,
  ];
  const root = inSlot({ ...view, verdict: { ...view.verdict!, layers, nextSteps: [] } }, 'root');
  expect(leaves(root.blocks)).toContainEqual({ type: 'text', text: 'list events', style: { code: true } });
  expect(wordsOf(root)).not.toContain('`');
});

test('the card names each missing read once', () => {
  const view = views.undetermined();
  const layers = [{ layer: 'app', status: 'unknown', missing: 'no events', fix: 'grant events' } as const];
  const missing = [...layers, { layer: 'app', missing: 'no quotas', fix: 'grant quotas' } as const];
  const { nextSteps } = views.platform().verdict!;
  const words = wordsOf(inSlot({ ...view, verdict: { ...view.verdict!, layers, missing, nextSteps } }, 'root'));
  expect(words.match(/no events|no quotas/g)).toEqual(['no events', 'no quotas']);
});

test('next steps are for whoever can take them: the vendor has a case, nobody has nothing', () => {
  const steps = (view: IncidentView) => wordsOf(inSlot(view, 'next-steps'));
  expect(steps(views.platform())).toContain('Next steps for Cluster platform');
  const vendor = { ...views.cloud(), routing: { ...views.platform().routing!, party: 'AWS Support' } };
  expect(steps(vendor)).toContain('Next steps on your side, besides the case with AWS Support');
  const calm = views.expected();
  const nextSteps = views.platform().verdict!.nextSteps;
  const watched = { ...calm, routing: views.platform().routing, verdict: { ...calm.verdict!, nextSteps } };
  expect(steps(watched)).toMatch(/^Next steps (?!for)/);
});

test('sources that were not read do not crowd out evidence: an implicated layer counts them, an unknown one names a few', () => {
  const gaps = Array.from({ length: 30 }, (_, i) => ({ missing: `source ${i % 15}`, fix: `grant ${i % 15}` }));
  const implicated = wordsOf(
    inSlot(incidentView({ readings: { platform: reading('platform', { gaps }) } }), 'layer-platform'),
  );
  expect(implicated).toContain('15 more sources of this layer could not be read');
  expect(implicated).not.toContain('grant 3');
  const view = { ...views.undetermined(), readings: { platform: reading('platform', { gaps }) } };
  const words = wordsOf(inSlot(view, 'layer-platform'));
  expect(words).toContain('grant 3');
  expect(words).toContain('9 more sources of this layer could not be read');
  const layers = view.verdict!.layers;
  const settled = { ...view, verdict: { ...views.cloud().verdict!, layers: [...layers.slice(1)] } };
  expect(wordsOf(inSlot(settled, 'layer-platform'))).not.toContain('grant 3');
});

test('replies name the run they are of, since a later run may no longer speak of them', () => {
  const view = incidentView({ incident: incident({ run: 2 }) });
  expect(wordsOf(inSlot(view, 'layer-platform'))).toContain('Run 2 · <!date^1795163114^');
  for (const slot of ['next-steps', 'escalation'])
    expect(wordsOf(inSlot(view, slot))).toContain('Run 2 · <!date^1795163121^');
});

test('the verdict gives the chain with a uid per link, what it cannot show and what would change it', () => {
  const view = views.platform();
  const words = wordsOf(inSlot(view, 'verdict'));
  for (const link of view.verdict?.chain ?? [])
    expect(words).toContain(`${link.object} uid ${link.uid} : ${link.claim}`);
  expect(words).toContain('Whether the limit was set on purpose');
  expect(words).toContain('A NodePool with room');
  expect(words).toContain('nodepool-limit-reached');
});

test('one mention, in the verdict, in mode page alone', () => {
  for (const mode of ['observe', 'post'] as const) expect(mentions({ ...views.platform(), mode })).toEqual([]);
  const paged: IncidentView = { ...views.platform(), mode: 'page' };
  expect(mentions(paged)).toEqual(['<!subteam^S0614TZR7>']);
  expect(JSON.stringify(inSlot(paged, 'verdict'))).toContain('<!subteam^S0614TZR7>');
});

test('a changed owner is a reply of its own, which then holds the only mention', () => {
  const changed = incidentView({ mode: 'page', formerOwner: 'app', incident: incident({ run: 2 }) });
  const reply = inSlot(changed, 'owner-change-2');
  expect(reply.text).toContain('from application team to Cluster platform');
  expect(mentions(changed)).toEqual(['<!subteam^S0614TZR7>']);
  expect(JSON.stringify(reply)).toContain('<!subteam^S0614TZR7>');
  expect(mentions({ ...changed, mode: 'post' })).toEqual([]);
});

test('a directory entry that is no Slack id mentions nobody', () => {
  const view = views.platform();
  for (const mention of ['here', '<!channel>', '@oncall', 'S1> <!here'])
    expect(mentions({ ...view, mode: 'page', routing: { ...view.routing!, mention } })).toEqual([]);
});

test('expected and over look calm: no mention, no action, the deadline is named', () => {
  const expected: IncidentView = { ...views.expected(), mode: 'page' };
  const root = inSlot(expected, 'root');
  expect(wordsOf(root)).toContain('⚪ Warning: KubeNodeNotReady');
  expect(wordsOf(root)).toContain('This looks like a fault and is normal. Nobody has to act.');
  expect(wordsOf(root)).toContain('2026-11-20 08:40:00 UTC');
  expect(wordsOf(root)).not.toContain('Do first');
  expect(slots(expected)).toEqual(['root', 'verdict']);
  expect(wordsOf(inSlot(expected, 'verdict'))).toContain('Disrupting NodeClaim: Underutilized/Delete');
  expect(mentions({ ...expected, routing: views.platform().routing })).toEqual([]);
  expect(wordsOf(inSlot(views.over(), 'root'))).toContain('It ended by itself.');
});

test('what was expected and lasts is raised by a reply of its own; what ended is closed by one', () => {
  const second = { formerState: 'expected', incident: incident({ run: 2 }) } as const;
  const raised = incidentView({ ...second, mode: 'page', formerOwner: 'undetermined' });
  const reply = inSlot(raised, 'owner-change-2');
  expect(wordsOf(reply)).toContain('It did not end by its deadline and is a fault now, for Cluster platform');
  expect(mentions(raised)).toHaveLength(1);
  expect(JSON.stringify(reply)).toContain('<!subteam^');
  const unowned = { ...views.undetermined(), ...second, mode: 'page' as const };
  expect(inSlot(unowned, 'owner-change-2').text).toContain('It did not end by its deadline');
  const over = { ...views.over(), ...second, mode: 'page' as const };
  expect(inSlot(over, 'owner-change-2').text).toBe('The re-check found it over. Nobody has to act.');
  expect(mentions(over)).toEqual([]);
});

test('undetermined names the missing read and its fix', () => {
  const words = wordsOf(inSlot(views.undetermined(), 'root'));
  expect(words).toContain('Undetermined, low confidence; Cluster platform looks first');
  expect(words).toContain('events of the pods in media');
  expect(words).toContain('kubectl get events -n media');
  expect(wordsOf(inSlot(views.undetermined(), 'layer-platform'))).toContain(
    'kubectl create rolebinding faultline-view',
  );
});

test('while layers run, the card shows progress per layer with the first observation', () => {
  const words = wordsOf(inSlot(views.running(), 'root'));
  expect(words).toContain('Reading the evidence, run 1');
  expect(words).toMatch(/Cloud: waiting.*Platform: reading.*Application: read, first observation/);
  expect(words).toContain('PodScheduled=False: Unschedulable');
  const failed = incident({ progress: { cloud: 'failed', platform: 'reading', app: 'read' } });
  expect(wordsOf(inSlot({ ...views.running(), incident: failed }, 'root'))).toContain('Cloud: could not be read');
});

test('a re-run keeps the verdict on the card beside its progress', () => {
  const progress = { cloud: 'read', platform: 'reading', app: 'waiting' } as const;
  const words = wordsOf(inSlot(incidentView({ incident: incident({ run: 2, progress }) }), 'root'));
  expect(words).toContain('Reading the evidence, run 2');
  expect(words).toContain('NodePool general is at its cpu limit');
});

test('buttons offer what can be done now, and carry incident and revision', () => {
  const owned = ['hand-off', 'wrong-owner', 'silence', 'resolve'];
  expect(buttons(views.platform())).toEqual(['acknowledge', 'assign', 'rerun', ...owned]);
  expect(buttons(views.running())).toEqual(['acknowledge', 'assign', 'silence', 'resolve']);
  expect(buttons(views.over())).toEqual(['reopen', 'rerun']);
  const acknowledged = incidentView({ incident: incident({ acknowledgedBy: 'Alice' }) });
  expect(buttons(acknowledged)).toEqual(['assign', 'rerun', ...owned]);
  const [actions] = blocksOf(inSlot(views.over(), 'root'), 'actions');
  expect(actions.elements[0].value).toBe('01JD2V7Q4Y8M3N6P9R0S1T2U3V 3.2');
});

test('state: re-fired, acknowledged, how many alerts fire', () => {
  const over = inSlot(views.over(), 'root');
  expect(wordsOf(over)).toContain('Resolved, fired again 2 times');
  expect(wordsOf(over)).toMatch(/acknowledged by\s+U0ALICE01/);
  const many = incidentView({
    alerts: [storedAlert(), storedAlert({ status: 'resolved' })],
    incident: incident({ acknowledgedBy: '<!here>', refires: 1 }),
  });
  expect(wordsOf(inSlot(many, 'root'))).toContain('Firing, fired again once, 1 of 2 alerts firing');
  expect(wordsOf(inSlot(many, 'root'))).toContain('acknowledged by <!here>');
  expect(mentions(many).length).toBeGreaterThan(0); // the word is there, in a leaf that Slack shows literally:
  expect(
    leaves(inSlot(many, 'root').blocks).filter((leaf) => leaf.type === 'mrkdwn' && leaf.text.includes('<!here')),
  ).toEqual([]);
});

test('alerts that were set aside or cut by Alertmanager are shown', () => {
  const rejected = ['alerts[3]: labels missing', 'alerts[4]: startsAt is no time'];
  const words = wordsOf(inSlot(incidentView({ rejected, incident: incident({ truncatedAlerts: 12 }) }), 'root'));
  expect(words).toContain('2 alerts of the notification were malformed and set aside');
  expect(words).toContain('alerts[4]: startsAt is no time');
  expect(words).toContain('Alertmanager cut 12 alerts');
});

test('what does not fit is named, with the page or the command that has it', () => {
  const many = verdict({
    evidence: Array.from({ length: 40 }, (_, i) => evidence({ text: `${i} ${'x'.repeat(900)}` })),
  });
  const paged = wordsOf(inSlot(incidentView({ verdict: many }), 'layer-platform'));
  expect(paged).toMatch(/\d+ parts do not fit into this message\. Everything is on the\s+Incident page/);
  const unpaged = wordsOf(inSlot(incidentView({ verdict: many, pageUrl: null }), 'layer-platform'));
  expect(unpaged).toContain('faultline triage --context shop-eu Deployment/preview -n media');
});

test('a long text is shortened with a mark that counts what is left off', () => {
  const long = verdict({ evidence: [evidence({ text: 'y'.repeat(5000) })] });
  const words = wordsOf(inSlot(incidentView({ verdict: long }), 'layer-platform'));
  expect(words).toContain('… (+3800 characters)');
  expect(words).toContain('3800 characters are left off above.');
});

test('a title beyond the header is whole in the card', () => {
  const title = `Alert${'x'.repeat(200)}End`;
  const root = inSlot(incidentView({ incident: incident({ title }) }), 'root');
  expect([...blocksOf(root, 'header')[0].text.text].length).toBeLessThanOrEqual(150);
  expect(wordsOf(root)).toContain(title);
});

describe('an escalation longer than a message', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, i) => `  line ${i}: ${'z'.repeat(30)}.`);
  const drafted = (body: string, incomplete: string[] = []) =>
    render(incidentView({ escalation: { audience: 'platform', title: 'T', body, incomplete } })).filter(({ slot }) =>
      slot.startsWith('escalation'),
    );
  const literal = (message: ThreadMessage): string[] =>
    blocksOf(message, 'rich_text').flatMap((block) =>
      block.elements.flatMap((element: any) =>
        element.type === 'rich_text_preformatted' ? [element.elements[0].text as string] : [],
      ),
    );

  test('goes on in the next message, whole, and breaks no line', () => {
    const sections = ['## One', ...lines(120), '## Two', ...lines(60)].join('\n');
    const thread = drafted(sections);
    expect(thread.map(({ slot }) => slot)).toEqual(['escalation', 'escalation-2']);
    expect(thread.flatMap(literal).join('\n')).toBe(sections);
    expect(literal(thread[1]!)[0]).toMatch(/^## Two\n/);
    expect(thread.map((message) => wordsOf(message)).join('\n')).toMatch(/Part 1 of 2[\s\S]*Part 2 of 2/);
  });

  test('gives way to what the receiver will ask for', () => {
    const asked = Array.from({ length: 8 }, (_, i) => `${i} ${'q'.repeat(350)}`);
    const thread = drafted(lines(150).join('\n'), asked);
    expect(thread.flatMap(literal).join('\n')).toBe(lines(150).join('\n').trim());
    expect(wordsOf(thread[0]!)).toContain(asked[7]);
  });

  test('says how many lines are left where the thread is no place for more', () => {
    const thread = drafted(lines(2000).join('\n'));
    const shown = thread.flatMap(literal).join('\n').split('\n').length;
    expect(thread).toHaveLength(4);
    expect(wordsOf(thread[3]!)).toContain(`${2000 - shown} more lines do not fit into the thread`);
  });

  test('breaks a line only between its words, and a word only where there is no space', () => {
    const sentence = `${'word '.repeat(700)}end`;
    expect(split(sentence, 500).every((piece) => /^(word )*(word |end)$/.test(piece))).toBe(true);
    expect(split(sentence, 500).join('')).toBe(sentence);
    expect(split('x'.repeat(30), 10)).toEqual(Array.from({ length: 3 }, () => 'x'.repeat(10)));
  });
});

test('a time that is none is shown as it came', () => {
  const odd = verdict({ onset: '<!channel>', deadline: 'soon', state: 'expected' });
  const root = inSlot(incidentView({ verdict: odd }), 'root');
  expect(JSON.stringify(blocksOf(root, 'context'))).not.toContain('<!channel');
  expect(wordsOf(root)).toContain('soon');
});

describe('the owner’s own channel', () => {
  const routed = (mode: IncidentView['mode'], channel: string | null): IncidentView => {
    const view = views.platform();
    return { ...view, mode, routing: { ...view.routing!, channel } };
  };
  const elsewhere = (view: IncidentView) => render(view).filter((message) => message.elsewhere);

  test('is told whose incident it is, why and what first, in modes that speak there', () => {
    for (const mode of ['post', 'page'] as const) {
      const [message, ...more] = elsewhere(routed(mode, 'C0PLATFORM'));
      expect(more).toEqual([]);
      expect(message).toMatchObject({ elsewhere: 'C0PLATFORM', slot: 'for-owner-C0PLATFORM' });
      expect(message?.text).toContain('Raise spec.limits.cpu');
      expect(wordsOf(message!)).toContain('NodePool general is at its cpu limit');
    }
  });

  test('hears nothing in mode observe, without a channel, where the thread is there already, and of what is no fault', () => {
    expect(elsewhere(routed('observe', 'C0PLATFORM'))).toEqual([]);
    expect(elsewhere(routed('post', null))).toEqual([]);
    expect(elsewhere(routed('post', views.platform().channel))).toEqual([]);
    const calm = views.expected();
    expect(elsewhere({ ...calm, mode: 'page', routing: { ...routed('page', 'C1').routing! } })).toEqual([]);
  });
});
