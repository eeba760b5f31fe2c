/** What Slack refuses about a modal, after docs.slack.dev/reference/views; written apart from src/slack/forms.ts on purpose. */

const length = (text: string): number => [...text].length;

const plainText = (object: any, path: string, max: number): string[] => {
  if (object?.type !== 'plain_text' || typeof object.text !== 'string') return [`${path} must be a plain_text object`];
  return length(object.text) < 1 || length(object.text) > max ? [`${path} must have 1 to ${max} characters`] : [];
};

const elementProblems = (element: any, path: string): string[] => {
  switch (element?.type) {
    case 'plain_text_input':
      return (element.max_length ?? 1) > 3000 ? [`${path}/max_length must be at most 3000`] : [];
    case 'users_select':
      return [];
    case 'static_select': {
      const options: any[] = element.options ?? [];
      return [
        ...(options.length < 1 || options.length > 100 ? [`${path}/options must have 1 to 100 items`] : []),
        ...options.flatMap((option, i) => [
          ...plainText(option.text, `${path}/options/${i}/text`, 75),
          ...(length(option.value ?? '') < 1 || length(option.value) > 150 ? [`${path}/options/${i}/value`] : []),
        ]),
      ];
    }
    default:
      return [`${path} has the unsupported type ${element?.type}`];
  }
};

const inputProblems = (block: any, path: string): string[] =>
  block?.type === 'input'
    ? [...plainText(block.label, `${path}/label`, 2000), ...elementProblems(block.element, `${path}/element`)]
    : [`${path} has the unsupported type ${block?.type}`];

/** Empty where Slack would open it. */
export const viewProblems = (view: any): string[] => {
  const blocks: any[] = view?.blocks ?? [];
  const ids = blocks.map((block) => block.block_id);
  return [
    ...(view?.type === 'modal' ? [] : ['type must be modal']),
    ...plainText(view?.title, 'title', 24),
    ...plainText(view?.close, 'close', 24),
    ...plainText(view?.submit, 'submit', 24),
    ...(length(view?.private_metadata ?? '') > 3000 ? ['private_metadata must be at most 3000 characters'] : []),
    ...(length(view?.callback_id ?? '') > 255 ? ['callback_id must be at most 255 characters'] : []),
    ...(blocks.length < 1 || blocks.length > 100 ? ['blocks must have 1 to 100 items'] : []),
    ...(new Set(ids).size < ids.length ? ['block_id must be unique'] : []),
    ...blocks.flatMap((block, i) => inputProblems(block, `blocks/${i}`)),
  ];
};
