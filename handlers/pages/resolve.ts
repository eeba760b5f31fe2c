import { actRoute } from '../../src/http/act-route.ts';

export default actRoute('resolve', { action: 'resolve', reason: '' });
