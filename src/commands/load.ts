import type { CommandHandler } from './command.ts';
import { loadHandlers } from './load-handlers.ts';

/** The commands of handlers/commands, in the order of their names. */
export const loadCommands = (folder: string): Promise<CommandHandler[]> => loadHandlers<CommandHandler>(folder, 'name');
