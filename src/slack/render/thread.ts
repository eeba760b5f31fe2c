import type { ThreadMessage } from '../../domain/message.ts';
import type { IncidentView } from '../../domain/view.ts';
import type { Messages } from '../messages.ts';
import { renderClosing } from './closing.ts';
import { renderEscalation } from './escalation.ts';
import { renderHandOff } from './hand-off.ts';
import {
  hasReply,
  renderForOwner,
  renderLayer,
  renderNextSteps,
  renderTurn,
  renderVerdict,
  turnOf,
} from './replies.ts';
import { renderRoot } from './root.ts';

/**
 * All messages of an incident's thread, root first: pure, and the same view gives the same messages. Cleared layers and
 * those that nothing speaks for or against get no reply. Every message fits Slack's limits; what does not fit is on
 * the page the message then names.
 */
export const renderThread = (view: IncidentView, messages: Messages): ThreadMessage[] => {
  const { verdict, escalation } = view;
  const root = renderRoot(view, messages);
  if (!verdict) return [root];
  const turn = turnOf(view, verdict);
  return [
    root,
    ...verdict.layers.filter((layer) => hasReply(verdict, layer)).map((layer) => renderLayer(view, layer, messages)),
    renderVerdict(view, verdict, messages),
    ...(verdict.nextSteps.length > 0 ? [renderNextSteps(view, verdict, messages)] : []),
    ...(escalation ? renderEscalation(view, escalation, messages) : []),
    ...renderForOwner(view, verdict, messages),
    ...(turn && !view.handOff ? [renderTurn(view, verdict, turn, messages)] : []),
    ...(view.handOff ? [renderHandOff(view, view.handOff, messages)] : []),
    ...(view.incident.status === 'resolved' ? [renderClosing(view, messages)] : []),
  ];
};
