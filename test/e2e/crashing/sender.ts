import * as real from '../../../src/slack/sender.ts';
import { crashAt } from './crash.ts';

export const createSlackSender: typeof real.createSlackSender = (options) => {
  const sender = real.createSlackSender(options);
  return {
    ...sender,
    async send(row) {
      const what = `${row.slot} is ${row.ts ? 'edited' : 'posted'}`;
      crashAt(`before ${what}`, row.incidentId);
      const result = await sender.send(row);
      crashAt(`after ${what}`, row.incidentId);
      return result;
    },
  };
};
