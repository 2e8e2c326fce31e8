#if SwiftOperationPostgreSQL
  extension SchemaMigration {
    /// The function that compares entries and applies a batch, in one transaction.
    ///
    /// A row is known by the transaction that has written it. The client has read the row, and compared its bytes.
    @Sendable static func conditions(_ schema: SchemaName) -> String {
      let name = schema.quoted
      return """
        -- Makes the changes of a batch if the rows are those that were seen, where 0 stands for none. Returns 0, or the
        -- position of the first row that is another one.
        CREATE FUNCTION \(name).apply_batch_if(
          batch_id bytea, removed bytea[], keys bytea[], vals bytea[], compared bytea[], seen bigint[]
        )
        RETURNS bigint LANGUAGE plpgsql AS $function$
        DECLARE
          stripe integer;
          other bigint;
        BEGIN
          FOR stripe IN
            SELECT DISTINCT get_byte(sha256(k), 0) % 64 FROM unnest(removed || keys || compared) k ORDER BY 1
          LOOP
            PERFORM pg_advisory_xact_lock(\(schema.lockNumber), stripe);
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
        REVOKE ALL ON ALL FUNCTIONS IN SCHEMA \(name) FROM PUBLIC;
        """
    }
  }
#endif
