import { fusionConstant } from '../../retrieval/reciprocal-rank-fusion.js';
import { keywordSql, questionSql, type KeywordSqlOptions } from './keyword-sql.js';
import { approximateSql, exactSql, type NearestSqlOptions, type SearchSetting } from './nearest-sql.js';

export interface HybridSqlOptions {
  readonly nearest: Omit<NearestSqlOptions, 'columns' | 'limit'>;
  readonly keyword: Omit<KeywordSqlOptions, 'columns' | 'limit' | 'offset' | 'where'>;
  /** Absent: all vectors are compared. */
  readonly settings: readonly SearchSetting[] | undefined;
  readonly columns: readonly string[];
  /** Rows of each ranking that are merged. */
  readonly depth: number;
  readonly limit: number;
  /** Places of the weights. */
  readonly weights: { readonly vector: string; readonly keyword: string };
}

/**
 * Both rankings, merged by reciprocal rank fusion, in one statement. Where the index of the vectors finds fewer than `depth` rows, all
 * are compared.
 */
export function hybridSql({ nearest, keyword, settings, columns, depth, limit, weights }: HybridSqlOptions): string {
  const { table } = nearest.index;
  const all = (where: string): string => exactSql({ ...nearest, where, columns: [], limit: depth });
  const near =
    settings === undefined
      ? `near AS MATERIALIZED (${all(nearest.where)})`
      : `found AS MATERIALIZED (${approximateSql({ ...nearest, columns: [], limit: depth, settings })}),
         near AS (SELECT * FROM found WHERE (SELECT count(*) FROM found) >= ${depth}
           UNION ALL (${all(`(SELECT count(*) FROM found) < ${depth} AND ${nearest.where}`)}))`;
  const share = (weight: string): string => `${weight}::float8 / (${fusionConstant} + row_number() OVER`;
  return `WITH ${near}, ${questionSql(keyword)},
    by_words AS (${keywordSql({ table, columns: [], where: nearest.where, limit: depth })}),
    shares AS (
      SELECT id, ${share(weights.vector)} (ORDER BY distance, id)) AS share FROM near
      UNION ALL SELECT id, ${share(weights.keyword)} (ORDER BY score DESC, id)) FROM by_words
    ), fused AS (
      SELECT id, sum(share) / ((${weights.vector}::float8 + ${weights.keyword}::float8) / ${fusionConstant + 1}) AS score
      FROM shares GROUP BY id ORDER BY score DESC, id LIMIT ${limit}
    )
    SELECT ${['id', ...columns, 'score'].join(', ')} FROM fused JOIN ${table} USING (id) ORDER BY score DESC, id`;
}
