-- Roles of the tables, made by `npm run docs` from operate/src/roles. How to apply: docs/operating/clickhouse.md.
-- The database is called pm here; it can be applied again, and takes away what a role should not have.

-- The projectors.
CREATE ROLE IF NOT EXISTS pm_writer;
GRANT
  SELECT, INSERT ON pm.fills,
  SELECT, INSERT ON pm.wallet_fills,
  SELECT, INSERT ON pm.wallet_moves,
  SELECT, INSERT ON pm.tape,
  SELECT, INSERT ON pm.builder_fills,
  SELECT, INSERT ON pm.resolutions,
  SELECT, INSERT ON pm.order_events,
  SELECT, INSERT ON pm.open_orders,
  SELECT, INSERT ON pm.wallet_cancels,
  SELECT, INSERT ON pm.book_events,
  SELECT, INSERT ON pm.positions,
  SELECT, INSERT ON pm.holders,
  SELECT, INSERT ON pm.midpoints_1m,
  SELECT, INSERT ON pm.candles_1m,
  SELECT, INSERT ON pm.completeness,
  SELECT, INSERT ON pm.book_closings,
  SELECT, INSERT ON pm.book_orders,
  SELECT, INSERT ON pm.market_rules,
  SELECT, INSERT ON pm.leaderboard_categories,
  SELECT, INSERT ON pm.leaderboard_prices,
  SELECT, INSERT ON pm.leaderboard_sums,
  SELECT, INSERT ON pm.leaderboard_wallets,
  SELECT, INSERT ON pm.leaderboard_tops,
  SELECT, INSERT ON pm.leaderboard_runs,
  ALTER DELETE ON pm.leaderboard_categories,
  ALTER DELETE ON pm.leaderboard_prices,
  ALTER DELETE ON pm.leaderboard_sums,
  ALTER DELETE ON pm.leaderboard_wallets,
  ALTER DELETE ON pm.leaderboard_tops,
  OPTIMIZE ON pm.open_orders,
  SELECT ON pm.rebuild_hold,
  SELECT ON system.parts,
  SELECT ON system.tables
TO pm_writer WITH REPLACE OPTION;

-- Reads for query-api.
CREATE ROLE IF NOT EXISTS pm_reader;
GRANT
  SELECT ON pm.fills,
  SELECT ON pm.wallet_fills,
  SELECT ON pm.wallet_moves,
  SELECT ON pm.tape,
  SELECT ON pm.builder_fills,
  SELECT ON pm.resolutions,
  SELECT ON pm.order_events,
  SELECT ON pm.open_orders,
  SELECT ON pm.wallet_cancels,
  SELECT ON pm.book_events,
  SELECT ON pm.positions,
  SELECT ON pm.holders,
  SELECT ON pm.midpoints_1m,
  SELECT ON pm.candles_1m,
  SELECT ON pm.completeness,
  SELECT ON pm.book_closings,
  SELECT ON pm.book_orders,
  SELECT ON pm.market_rules,
  SELECT ON pm.leaderboard_wallets,
  SELECT ON pm.leaderboard_tops,
  SELECT ON pm.leaderboard_runs,
  SELECT ON system.tables
TO pm_reader WITH REPLACE OPTION;
CREATE SETTINGS PROFILE OR REPLACE pm_reader SETTINGS
  readonly = 2 CONST,
  max_execution_time = 10 MIN 1 MAX 30,
  max_memory_usage = 4294967296 MIN 1 MAX 4294967296,
  max_result_rows = 1000000 MIN 1 MAX 1000000,
  max_concurrent_queries_for_user = 200 CONST,
  result_overflow_mode = 'throw' CONST,
  read_overflow_mode = 'throw' CONST,
  timeout_overflow_mode = 'throw' CONST
TO pm_reader;

-- `npm run audit` and `npm run export`: whole tables, without a limit of rows.
CREATE ROLE IF NOT EXISTS pm_auditor;
GRANT
  SELECT ON pm.fills,
  SELECT ON pm.wallet_fills,
  SELECT ON pm.wallet_moves,
  SELECT ON pm.tape,
  SELECT ON pm.builder_fills,
  SELECT ON pm.resolutions,
  SELECT ON pm.order_events,
  SELECT ON pm.open_orders,
  SELECT ON pm.wallet_cancels,
  SELECT ON pm.book_events,
  SELECT ON pm.positions,
  SELECT ON pm.holders,
  SELECT ON pm.midpoints_1m,
  SELECT ON pm.candles_1m,
  SELECT ON pm.completeness,
  SELECT ON pm.book_closings,
  SELECT ON pm.book_orders,
  SELECT ON pm.market_rules
TO pm_auditor WITH REPLACE OPTION;
CREATE SETTINGS PROFILE OR REPLACE pm_auditor SETTINGS
  readonly = 2 CONST,
  max_concurrent_queries_for_user = 8 CONST
TO pm_auditor;

-- People and notebooks of a data team.
CREATE ROLE IF NOT EXISTS pm_analyst;
GRANT
  SELECT ON pm.fills,
  SELECT ON pm.wallet_fills,
  SELECT ON pm.wallet_moves,
  SELECT ON pm.tape,
  SELECT ON pm.builder_fills,
  SELECT ON pm.resolutions,
  SELECT ON pm.order_events,
  SELECT ON pm.open_orders,
  SELECT ON pm.wallet_cancels,
  SELECT ON pm.book_events,
  SELECT ON pm.positions,
  SELECT ON pm.holders,
  SELECT ON pm.midpoints_1m,
  SELECT ON pm.candles_1m,
  SELECT ON pm.completeness,
  SELECT ON pm.book_closings,
  SELECT ON pm.book_orders,
  SELECT ON pm.market_rules
TO pm_analyst WITH REPLACE OPTION;
CREATE SETTINGS PROFILE OR REPLACE pm_analyst SETTINGS
  readonly = 2 CONST,
  max_execution_time = 60 MIN 1 MAX 300,
  max_memory_usage = 8589934592 MIN 1 MAX 8589934592,
  max_result_rows = 1000000 MIN 1 MAX 1000000,
  max_concurrent_queries_for_user = 4 CONST,
  result_overflow_mode = 'throw' CONST,
  read_overflow_mode = 'throw' CONST,
  timeout_overflow_mode = 'throw' CONST,
  max_rows_to_read = 5000000000 MIN 1 MAX 5000000000,
  max_bytes_to_read = 536870912000 MIN 1 MAX 536870912000,
  max_threads = 4 MIN 1 MAX 4
TO pm_analyst;
CREATE QUOTA OR REPLACE pm_analyst KEYED BY user_name FOR INTERVAL 1 hour
  MAX queries = 2000, errors = 500, result_rows = 10000000, read_rows = 100000000000, execution_time = 3600
TO pm_analyst;

-- The ClickHouse data source of Grafana.
CREATE ROLE IF NOT EXISTS pm_grafana;
GRANT
  SELECT ON pm.fills,
  SELECT ON pm.wallet_fills,
  SELECT ON pm.wallet_moves,
  SELECT ON pm.tape,
  SELECT ON pm.builder_fills,
  SELECT ON pm.resolutions,
  SELECT ON pm.order_events,
  SELECT ON pm.open_orders,
  SELECT ON pm.wallet_cancels,
  SELECT ON pm.book_events,
  SELECT ON pm.positions,
  SELECT ON pm.holders,
  SELECT ON pm.midpoints_1m,
  SELECT ON pm.candles_1m,
  SELECT ON pm.completeness,
  SELECT ON pm.book_closings,
  SELECT ON pm.book_orders,
  SELECT ON pm.market_rules,
  SELECT ON system.databases,
  SELECT ON system.tables,
  SELECT ON system.columns,
  SELECT ON system.functions
TO pm_grafana WITH REPLACE OPTION;
CREATE SETTINGS PROFILE OR REPLACE pm_grafana SETTINGS
  readonly = 2 CONST,
  max_execution_time = 30 MIN 1 MAX 65,
  max_memory_usage = 2147483648 MIN 1 MAX 2147483648,
  max_result_rows = 100000 MIN 1 MAX 100000,
  max_concurrent_queries_for_user = 20 CONST,
  result_overflow_mode = 'throw' CONST,
  read_overflow_mode = 'throw' CONST,
  timeout_overflow_mode = 'throw' CONST,
  max_rows_to_read = 500000000 MIN 1 MAX 500000000,
  max_bytes_to_read = 53687091200 MIN 1 MAX 53687091200,
  max_threads = 4 MIN 1 MAX 4
TO pm_grafana;
CREATE QUOTA OR REPLACE pm_grafana KEYED BY user_name FOR INTERVAL 1 hour
  MAX queries = 20000, errors = 2000, result_rows = 50000000, read_rows = 100000000000, execution_time = 7200
TO pm_grafana;
