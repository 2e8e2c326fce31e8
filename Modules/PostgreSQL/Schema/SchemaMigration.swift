#if SwiftOperationPostgreSQL
  /// A step from one version of the schema to the next. Steps that were released are never changed.
  struct SchemaMigration: Sendable {
    let script: @Sendable (SchemaName) -> String

    /// The steps, in order. The version of a schema is the number of its steps.
    static let all = [
      SchemaMigration(script: SchemaMigration.storage), SchemaMigration(script: SchemaMigration.fleet),
      SchemaMigration(script: SchemaMigration.conditions), SchemaMigration(script: SchemaMigration.paths),
      SchemaMigration(script: SchemaMigration.cleaning), SchemaMigration(script: SchemaMigration.leases),
      SchemaMigration(script: SchemaMigration.clock), SchemaMigration(script: SchemaMigration.changes),
      SchemaMigration(script: SchemaMigration.comparing),
    ]

    /// The tables that a user of the schema reads and writes.
    static let tables = [
      "entry", "entry_change", "batch", "lease", "fleet_start", "fleet_clock", "fleet_value", "fleet_lease",
      "fleet_invalidation", "fleet_cleaning",
    ]

    /// Gives the functions that clients call the path on which they find operators and functions, so that no session has to
    /// have it. Those that these call have it from them.
    @Sendable private static func paths(_ schema: SchemaName) -> String {
      let functions = [
        "apply_batch", "apply_batch_if", "acquire_lease", "clean_up", "fleet_begin", "fleet_acquire_lease",
        "fleet_store",
        "fleet_release_lease", "fleet_invalidate", "fleet_clean_up",
      ]
      return functions.map { "ALTER FUNCTION \(schema.quoted).\($0) SET search_path = pg_catalog, pg_temp;" }
        .joined(separator: "\n")
    }

    /// The number of the advisory lock of migrations.
    static func lock(of schema: SchemaName) -> Int64 {
      0x5377_6966_0000_0000 | Int64(UInt32(bitPattern: schema.lockNumber))
    }

    /// The tables of `PostgreSQLStorage`: entries, the batches that were made, and leases.
    ///
    /// An index cannot have keys of more than 2,700 bytes. So a key is split: its first 1,000 bytes, the rest, and the
    /// digest of the rest, which stands for it in the index.
    @Sendable private static func storage(_ schema: SchemaName) -> String {
      let name = schema.quoted
      return """
        CREATE SCHEMA IF NOT EXISTS \(name);
        CREATE TABLE \(name).schema_version (
          version integer PRIMARY KEY, made_at timestamptz NOT NULL DEFAULT clock_timestamp()
        );
        CREATE TABLE \(name).entry (
          head bytea NOT NULL, digest bytea NOT NULL, rest bytea NOT NULL, value bytea NOT NULL,
          PRIMARY KEY (head, digest)
        );
        CREATE TABLE \(name).batch (id bytea PRIMARY KEY, made_at timestamptz NOT NULL);
        CREATE INDEX batch_made_at ON \(name).batch (made_at);
        CREATE TABLE \(name).lease (
          name bytea PRIMARY KEY, owner bytea NOT NULL, ends_at timestamptz NOT NULL
        );

        CREATE FUNCTION \(name).digest(rest bytea) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
          RETURN CASE WHEN length(rest) = 0 THEN '\\x'::bytea ELSE sha256(rest) END;

        -- Makes the changes of a batch once, however often it is called. Batches with a key in common wait for each other.
        CREATE FUNCTION \(name).apply_batch(batch_id bytea, removed bytea[], keys bytea[], vals bytea[])
        RETURNS boolean LANGUAGE plpgsql AS $function$
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
          RETURN true;
        END
        $function$;

        -- Takes or renews a lease, and returns null. If another owner has it, returns how many microseconds it lasts.
        CREATE FUNCTION \(name).acquire_lease(lease_name bytea, lease_owner bytea, microseconds bigint)
        RETURNS bigint LANGUAGE plpgsql AS $function$
        DECLARE
          moment timestamptz;
          held \(name).lease;
        BEGIN
          LOOP
            INSERT INTO \(name).lease (name, owner, ends_at) VALUES (lease_name, lease_owner, '-infinity')
              ON CONFLICT DO NOTHING;
            SELECT * INTO held FROM \(name).lease l WHERE l.name = lease_name FOR UPDATE;
            -- It may have been removed in between.
            EXIT WHEN FOUND;
          END LOOP;
          -- Read after the wait for the lock.
          moment := clock_timestamp();
          IF held.owner <> lease_owner AND held.ends_at > moment THEN
            RETURN ceil(extract(epoch FROM held.ends_at - moment) * 1000000)::bigint;
          END IF;
          UPDATE \(name).lease l
            SET owner = lease_owner, ends_at = moment + microseconds * interval '1 microsecond'
            WHERE l.name = lease_name;
          RETURN NULL;
        END
        $function$;

        -- Removes some of the rows that nobody needs any more, and leaves those that another process is removing.
        CREATE FUNCTION \(name).clean_up() RETURNS bigint LANGUAGE sql AS $function$
          WITH old_batches AS (
            DELETE FROM \(name).batch WHERE id IN (
              SELECT id FROM \(name).batch WHERE made_at < clock_timestamp() - interval '1 hour'
              ORDER BY made_at LIMIT 500 FOR UPDATE SKIP LOCKED
            ) RETURNING 1
          ), old_leases AS (
            DELETE FROM \(name).lease WHERE name IN (
              SELECT name FROM \(name).lease WHERE ends_at < clock_timestamp() - interval '1 hour'
              ORDER BY name LIMIT 500 FOR UPDATE SKIP LOCKED
            ) RETURNING 1
          )
          SELECT (SELECT count(*) FROM old_batches) + (SELECT count(*) FROM old_leases)
        $function$;
        REVOKE ALL ON ALL FUNCTIONS IN SCHEMA \(name) FROM PUBLIC;
        """
    }
  }
#endif
