import type { RichTextElement } from '@slack/types';
import { type Layer, layers } from '../../domain/layer.ts';
import type { LayerVerdict } from '../../domain/verdict.ts';
import type { Block } from '../limits.ts';
import { bold, bullets, type Draft, fix, paragraph, plain, rich } from './draft.ts';
import { isRunning, layerName } from './words.ts';

const statusMark = { cleared: '✅', implicated: '🔴', unknown: '❔' } as const;
const progressMark = { waiting: '⏳', reading: '🔎', read: '📄', failed: '⚠️' } as const;

const reason = (draft: Draft, layer: LayerVerdict): RichTextElement[] =>
  layer.status === 'unknown'
    ? [
        ...plain(draft.line(layer.missing, 400)),
        ...(layer.fix
          ? [
              ...plain(`. ${draft.say(layer.silent ? 'label.look' : 'label.fix')}: `),
              ...fix(draft.line(layer.fix, 300)),
            ]
          : []),
      ]
    : plain(draft.line(layer.because, 400));

/** `✅ Cloud: cleared, because …`. */
const verdictLine = (draft: Draft, layer: LayerVerdict): RichTextElement[] => [
  ...plain(`${statusMark[layer.status]} `),
  ...bold(`${layerName(draft, layer.layer)}: ${draft.say(`layerStatus.${layer.status}`)}`),
  ...plain(' · '),
  ...reason(draft, layer),
];

/** How far the run has come in one layer, with the first thing that was seen. */
const progressLine = (draft: Draft, layer: Layer): RichTextElement[] => {
  const progress = draft.view.incident.progress[layer];
  const observation = progress === 'read' ? draft.view.readings[layer]?.observations[0] : undefined;
  const words = draft.say(observation ? 'progress.observed' : `progress.${progress}`);
  const seen = observation
    ? draft.say('progress.observation', {
        object: draft.line(observation.object, 200),
        fact: draft.line(observation.text || `${observation.field} ${observation.value}`, 300),
      })
    : '';
  return [
    ...plain(`${progressMark[progress]} `),
    ...bold(`${layerName(draft, layer)}: `),
    ...plain(words),
    ...(seen ? plain(`. ${seen}`) : []),
  ];
};

/** The three layers of the card: progress while they are read, then what became of each. */
export const layerBlocks = (draft: Draft): Block[] => {
  const { verdict, incident } = draft.view;
  const running = isRunning(draft.view);
  const heading = running ? 'progress.running' : 'progress.judging';
  return [
    ...(verdict
      ? [
          rich([
            paragraph(bold(draft.say('label.layers'))),
            ...bullets(
              layers
                .flatMap((layer) => verdict.layers.filter((entry) => entry.layer === layer))
                .map((entry) => verdictLine(draft, entry)),
            ),
          ]),
        ]
      : []),
    ...(running || !verdict
      ? [
          rich([
            paragraph(bold(draft.say(heading, { run: incident.run }))),
            ...bullets(layers.map((layer) => progressLine(draft, layer))),
          ]),
        ]
      : []),
  ];
};
