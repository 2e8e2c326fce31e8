#if SwiftOperationPostgreSQL
  extension SchemaMigration {
    /// The function that cleans, for epochs without a row. It counts a part of the invalidations, as it does of the values.
    static func clockCleaning(_ schema: SchemaName) -> String {
      let name = schema.quoted
      return """

        CREATE OR REPLACE FUNCTION \(name).fleet_clean_up(
          pause interval, counting_pause interval, maximum_values bigint, maximum_bytes bigint,
          kept_invalidations bigint, kept_for interval, OUT removed bigint, OUT has_more boolean
        ) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $function$
        DECLARE
          maximum_step CONSTANT bigint := 500;
          maximum_step_bytes CONSTANT bigint := 16000000;
          maximum_pages CONSTANT bigint := 2000;
          percentage double precision;
          moment CONSTANT timestamptz := clock_timestamp();
          state \(name).fleet_cleaning;
          removed_bytes bigint;
          more bigint;
          last bigint;
        BEGIN
          INSERT INTO \(name).fleet_cleaning VALUES (true, '-infinity', '-infinity', 0, 0, 0) ON CONFLICT DO NOTHING;
          SELECT * INTO state FROM \(name).fleet_cleaning c WHERE c.due_at <= moment FOR UPDATE SKIP LOCKED;
          IF NOT FOUND THEN
            RETURN;
          END IF;
          IF state.counted_at <= moment - counting_pause THEN
            -- Of a large table a part of the pages is counted, so that this is short, too. The size of a value is that of its
            -- stored form, for which it is not read.
            SELECT least(100, 100.0 * maximum_pages * current_setting('block_size')::bigint / greatest(1, s.bytes))
              INTO percentage FROM pg_relation_size('\(name).fleet_value'::regclass) AS s (bytes);
            SELECT greatest(0, (count(*) * 100 / percentage)::bigint - maximum_values),
              greatest(0, (coalesce(sum(pg_column_size(v.bytes)), 0) * 100 / percentage)::bigint - maximum_bytes)
              INTO state.surplus_values, state.surplus_bytes
              FROM \(name).fleet_value v TABLESAMPLE SYSTEM (percentage);
            SELECT least(100, 100.0 * maximum_pages * current_setting('block_size')::bigint / greatest(1, s.bytes))
              INTO percentage FROM pg_relation_size('\(name).fleet_invalidation'::regclass) AS s (bytes);
            SELECT greatest(0, (count(*) * 100 / percentage)::bigint - kept_invalidations)
              INTO state.surplus_invalidations FROM \(name).fleet_invalidation i TABLESAMPLE SYSTEM (percentage);
            state.counted_at := moment;
          END IF;

          -- Those that have ended, and if there are too many, those that end first.
          WITH candidates AS (
            SELECT v.key, v.ends_at, pg_column_size(v.bytes)::bigint AS size FROM \(name).fleet_value v
            ORDER BY v.ends_at LIMIT maximum_step
          ), places AS (
            SELECT c.key, c.ends_at, c.size, row_number() OVER o AS place, (sum(c.size) OVER o) - c.size AS bytes_before
            FROM candidates c WINDOW o AS (ORDER BY c.ends_at, c.key ROWS UNBOUNDED PRECEDING)
          ), chosen AS (
            SELECT p.key, p.size, p.place <= state.surplus_values OR p.bytes_before < state.surplus_bytes AS is_surplus
            FROM places p WHERE p.bytes_before < maximum_step_bytes
          ), gone AS (
            -- One that was stored again meanwhile is another one.
            DELETE FROM \(name).fleet_value v USING chosen c
            WHERE v.key = c.key AND (c.is_surplus OR v.ends_at <= moment) RETURNING c.size
          )
          SELECT count(*), coalesce(sum(g.size), 0) INTO removed, removed_bytes FROM gone g;
          state.surplus_values := greatest(0, state.surplus_values - removed);
          state.surplus_bytes := greatest(0, state.surplus_bytes - removed_bytes);
          has_more := removed >= maximum_step OR removed_bytes >= maximum_step_bytes
            OR (removed > 0 AND (state.surplus_values > 0 OR state.surplus_bytes > 0));

          DELETE FROM \(name).fleet_lease l WHERE l.key IN (
            SELECT m.key FROM \(name).fleet_lease m WHERE m.ends_at <= moment
            ORDER BY m.ends_at LIMIT maximum_step FOR UPDATE SKIP LOCKED
          );
          GET DIAGNOSTICS more = ROW_COUNT;
          has_more := has_more OR more >= maximum_step;
          removed := removed + more;

          SELECT max(o.epoch) INTO last FROM (
            SELECT i.epoch, i.made_at, row_number() OVER (ORDER BY i.epoch) AS place FROM (
              SELECT j.epoch, j.made_at FROM \(name).fleet_invalidation j ORDER BY j.epoch LIMIT maximum_step
            ) i
          ) o
          WHERE o.made_at < moment - kept_for OR o.place <= state.surplus_invalidations;
          IF last IS NOT NULL THEN
            -- Last, as invalidations wait for the lock. Whoever reads the floor sees that they are gone, and whoever does not
            -- sees them.
            PERFORM pg_advisory_xact_lock(\(schema.lockNumber), \(self.invalidationLock));
            UPDATE \(name).fleet_clock c SET floor = greatest(c.floor, last);
            DELETE FROM \(name).fleet_invalidation i WHERE i.epoch <= last;
            GET DIAGNOSTICS more = ROW_COUNT;
            state.surplus_invalidations := greatest(0, state.surplus_invalidations - more);
            has_more := has_more OR more >= maximum_step;
            removed := removed + more;
          END IF;
          UPDATE \(name).fleet_cleaning c SET
            due_at = CASE WHEN has_more THEN moment ELSE moment + pause END, counted_at = state.counted_at,
            surplus_values = state.surplus_values, surplus_bytes = state.surplus_bytes,
            surplus_invalidations = state.surplus_invalidations;
        END
        $function$;
        REVOKE ALL ON ALL FUNCTIONS IN SCHEMA \(name) FROM PUBLIC;
        """
    }
  }
#endif
