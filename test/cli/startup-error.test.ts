import { expect, test } from 'vitest';
import { OperatorError } from '../../src/cli/operator-error.ts';
import { startupError } from '../../src/cli/run-until-signal.ts';

test('a token that Slack refuses is named without a stack, with the settings that hold it', () => {
  const refused = Object.assign(new Error('An API error occurred: invalid_auth'), {
    code: 'slack_webapi_platform_error',
  });
  const error = startupError(refused) as OperatorError;
  expect(error).toBeInstanceOf(OperatorError);
  expect(error.message).toMatch(/invalid_auth\n.*SLACK_BOT_TOKEN.*SLACK_APP_TOKEN/);
});

test('what nobody at the keyboard can mend stays as it is', () => {
  const bug = new Error('of undefined');
  expect(startupError(bug)).toBe(bug);
});
