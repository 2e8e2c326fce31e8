#if SwiftOperationPostgreSQL
  extension SchemaMigration {
    /// Lets batches that compare one entry, and do not change it, go on at the same time.
    ///
    /// All processes compare the entry that names the era of their values. They wait for the one that changes it, and it for them.
    @Sendable static func comparing(_ schema: SchemaName) -> String {
      let name = schema.quoted
      return """
        CREATE OR REPLACE FUNCTION \(name).apply_batch_if(
          batch_id bytea, removed bytea[], keys bytea[], vals bytea[], compared bytea[], seen bigint[]
        )
        RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $function$
        DECLARE
          stripe integer;
          changes boolean;
          other bigint;
        BEGIN
          FOR stripe, changes IN
            SELECT get_byte(sha256(k), 0) % 64, bool_or(changed) FROM (
              SELECT k, true FROM unnest(removed || keys) k UNION ALL SELECT k, false FROM unnest(compared) k
            ) AS locked (k, changed) GROUP BY 1 ORDER BY 1
          LOOP
            IF changes THEN
              PERFORM pg_advisory_xact_lock(\(schema.lockNumber), stripe);
            ELSE
              PERFORM pg_advisory_xact_lock_shared(\(schema.lockNumber), stripe);
            END IF;
          END LOOP;
          IF EXISTS (SELECT FROM \(name).batch WHERE id = batch_id) THEN
            RETURN 0;
          END IF;
          SELECT min(c.position) INTO other
            FROM unnest(compared, seen) WITH ORDINALITY AS c (k, writer, position)
            LEFT JOIN \(name).entry e
              ON e.head = substring(c.k FOR 1000) AND e.digest = \(name).digest(substring(c.k FROM 1001))
            WHERE coalesce(e.xmin::text::bigint, 0) <> c.writer;
          IF other IS NOT NULL THEN
            RETURN other;
          END IF;
          PERFORM \(name).apply_batch(batch_id, removed, keys, vals);
          RETURN 0;
        END
        $function$;
        """
    }
  }
#endif
