import { createCancelToken } from './cancel-token.ts';

describe('cancel token', () => {
  it('tells everyone once, with the first reason', () => {
    const token = createCancelToken();
    const heard: string[] = [];
    token.onCancel((reason) => heard.push(`a ${reason}`));
    const leave = token.onCancel((reason) => heard.push(`b ${reason}`));
    leave();
    token.cancel('client_closed');
    token.cancel('draining');
    token.onCancel((reason) => heard.push(`late ${reason}`));
    expect(heard).toEqual(['a client_closed', 'late client_closed']);
    expect(token.reason).toBe('client_closed');
  });

  it('gives a real signal to those who need one, before and after', () => {
    const early = createCancelToken();
    const signal = early.signal;
    early.cancel('draining');
    expect(signal.aborted).toBe(true);
    const late = createCancelToken();
    late.cancel('draining');
    expect(late.signal.aborted).toBe(true);
  });
});
