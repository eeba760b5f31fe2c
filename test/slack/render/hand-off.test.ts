import { describe, expect, test } from 'vitest';
import { loadMessages } from '../../../src/slack/messages.ts';
import { renderThread } from '../../../src/slack/render/thread.ts';
import { handOff, incident, incidentView } from '../../fakes/view.ts';

const messages = loadMessages('templates/messages', 'en');
const slot = (view: ReturnType<typeof incidentView>, name: string) =>
  renderThread(view, messages).find((message) => message.slot === name);

describe('an incident that a person handed over', () => {
  const view = incidentView({ handOff: handOff(), routing: handOff().routing, formerOwner: 'cloud' });

  test('is told in a reply of its own, with the reason, one per hand-off', () => {
    const reply = slot(view, 'hand-off-1')!;
    expect(reply.text).toBe('Deployment media/preview was handed over to media (application team)');
    expect(JSON.stringify(reply.blocks)).toContain('the request is theirs to lower');
    expect(slot(view, 'owner-change-1')).toBeUndefined();
    expect(slot({ ...view, handOff: handOff({ number: 2 }) }, 'hand-off-2')).toBeDefined();
  });

  test('calls the new owner in mode page alone', () => {
    expect(JSON.stringify(slot(view, 'hand-off-1')!.blocks)).not.toContain('subteam');
    expect(JSON.stringify(slot({ ...view, mode: 'page' }, 'hand-off-1')!.blocks)).toContain('<!subteam^S0MEDIA01>');
  });

  test('shows the new owner on the card, and who said so', () => {
    const root = JSON.stringify(slot(view, 'root')!.blocks);
    expect(root).toContain('media (application team)');
    expect(root).toContain('"type":"user","user_id":"U0ALICE01"');
    expect(root).not.toContain('high confidence');
  });

  test('cannot be made to mention anybody by its reason', () => {
    const hostile = handOff({ why: '<!channel> *all* <@U0EVIL001>', by: '<!here>' });
    for (const { slot, text, blocks } of renderThread({ ...view, handOff: hostile }, messages)) {
      if (slot !== 'hand-off-1' && slot !== 'root') continue;
      expect(text).not.toMatch(/<[!@]/);
      expect(JSON.stringify(blocks)).not.toContain('"user_id":"U0EVIL001"');
      expect(JSON.stringify(blocks)).not.toContain('"broadcast"');
    }
  });
});

test('the card says who acknowledged, who it is assigned to, and who closed it', () => {
  const view = incidentView({
    incident: incident({ status: 'resolved', acknowledgedBy: 'U0ALICE01', assignedTo: 'U0BOB0001', resolvedBy: 'cli' }),
  });
  const root = JSON.stringify(slot(view, 'root')!.blocks);
  for (const words of ['acknowledged by', 'assigned to', 'closed by cli', 'U0ALICE01', 'U0BOB0001'])
    expect(root.replaceAll('"},{"type":"text","text":"', '')).toContain(words);
});
