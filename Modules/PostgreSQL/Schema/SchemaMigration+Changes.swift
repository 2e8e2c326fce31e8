#if SwiftOperationPostgreSQL
  extension SchemaMigration {
    /// The last batch that has changed entries of each kind, so that a client knows whether others have changed any.
    ///
    /// A sequence would not do: a batch with a smaller number may be committed after one with a larger number was read. So each
    /// of the stripes that batches lock has a row of its own, and no batch waits longer than before. The row names the batch by
    /// its random number and the one before it: a number that counts would be given twice if a crash of the server undoes a
    /// removal.
    @Sendable static func changes(_ schema: SchemaName) -> String {
      let name = schema.quoted
      return """
        CREATE TABLE \(name).entry_change (
          prefix bytea, stripe integer, last bytea NOT NULL, before bytea, PRIMARY KEY (prefix, stripe)
        ) WITH (fillfactor = 20);

        -- The first component of a key, with the slash at its end; nothing if the key has none.
        CREATE FUNCTION \(name).key_prefix(key bytea) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
          RETURN substring(key FOR position('\\x2f'::bytea IN substring(key FOR 100)));

        CREATE OR REPLACE FUNCTION \(name).apply_batch(batch_id bytea, removed bytea[], keys bytea[], vals bytea[])
        RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $function$
        DECLARE
          stripe integer;
        BEGIN
          IF cardinality(keys) = 0 THEN
            PERFORM set_config('synchronous_commit', 'off', true);
          END IF;
          FOR stripe IN SELECT DISTINCT get_byte(sha256(k), 0) % 64 FROM unnest(removed || keys) k ORDER BY 1 LOOP
            PERFORM pg_advisory_xact_lock(\(schema.lockNumber), stripe);
          END LOOP;
          INSERT INTO \(name).batch (id, made_at) VALUES (batch_id, clock_timestamp()) ON CONFLICT DO NOTHING;
          IF NOT FOUND THEN
            RETURN false;
          END IF;
          DELETE FROM \(name).entry e USING unnest(removed) k
            WHERE e.head = substring(k FOR 1000) AND e.digest = \(name).digest(substring(k FROM 1001));
          INSERT INTO \(name).entry (head, digest, rest, value)
            SELECT substring(k FOR 1000), \(name).digest(substring(k FROM 1001)), substring(k FROM 1001), v
            FROM unnest(keys, vals) AS pair (k, v)
            ON CONFLICT (head, digest) DO UPDATE SET value = EXCLUDED.value;
          INSERT INTO \(name).entry_change AS c (prefix, stripe, last)
            SELECT DISTINCT \(name).key_prefix(k), get_byte(sha256(k), 0) % 64, batch_id FROM unnest(removed || keys) k
            ON CONFLICT ON CONSTRAINT entry_change_pkey DO UPDATE SET before = c.last, last = EXCLUDED.last;
          RETURN true;
        END
        $function$;

        -- Makes the changes of a batch as `apply_batch_if` does. Returns what that returns, and then the rows of which the
        -- batch is the last one.
        CREATE FUNCTION \(name).apply_changes(
          batch_id bytea, removed bytea[], keys bytea[], vals bytea[], compared bytea[], seen bigint[]
        )
        RETURNS TABLE (refused bigint, changed_prefix bytea, changed_stripe bigint, batch_before bytea)
        LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $function$
        BEGIN
          RETURN QUERY SELECT \(name).apply_batch_if(batch_id, removed, keys, vals, compared, seen), NULL::bytea,
            NULL::bigint, NULL::bytea;
          RETURN QUERY SELECT 0::bigint, c.prefix, c.stripe::bigint, c.before FROM (
            SELECT DISTINCT \(name).key_prefix(k) AS prefix, get_byte(sha256(k), 0) % 64 AS stripe
            FROM unnest(removed || keys) k
          ) AS changed
          JOIN \(name).entry_change c ON c.prefix = changed.prefix AND c.stripe = changed.stripe
          WHERE c.last = batch_id;
        END
        $function$;
        REVOKE ALL ON ALL FUNCTIONS IN SCHEMA \(name) FROM PUBLIC;
        """
    }
  }
#endif
