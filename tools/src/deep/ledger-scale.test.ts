import { judgeScale } from './ledger-scale.ts';

const names = [
  'monthByDayAndModel',
  'monthByDayModelAndFeature',
  'newestPage',
  'pageInTheMiddle',
  'nextPage',
  'pageOfEveryTenant',
  'pageOfTimeouts',
  'pageOfAFeature',
  'pageOfAModel',
  'oneRequest',
];
const good = { differences: 0, ...Object.fromEntries(names.map((name) => [`${name}MsP50`, 1])) };

describe('the judgement of a ledger of 10 million rows', () => {
  it('passes figures below every bound', () => {
    expect(judgeScale(good)).toEqual([]);
  });

  it('names each figure at or above its bound, one that is missing, and rollups that differ', () => {
    const { oneRequestMsP50: _gone, ...missing } = good as Record<string, number>;
    expect(judgeScale({ ...missing, monthByDayAndModelMsP50: 200, newestPageMsP50: 50, differences: 1 })).toEqual([
      'monthByDayAndModel took 200.0 ms, not below 200',
      'newestPage took 50.0 ms, not below 50',
      'oneRequest took no figure ms, not below 50',
      'the rollups differ from the rows',
    ]);
  });
});
