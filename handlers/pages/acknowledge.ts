import { actRoute } from '../../src/http/act-route.ts';

export default actRoute('acknowledge', { action: 'acknowledge' });
