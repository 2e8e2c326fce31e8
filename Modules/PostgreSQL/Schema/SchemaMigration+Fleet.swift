#if SwiftOperationPostgreSQL
  extension SchemaMigration {
    /// The tables of `PostgreSQLFleet`: the clock with the epoch and the floor, values, leases and invalidations.
    ///
    /// They are unlogged, but for the number of starts: a crash of the server empties them. Then the clock begins anew,
    /// with the next start, so that epochs, tokens and revisions are higher than all before, and the floor is its epoch.
    ///
    /// A value is fresh by comparison: its epoch, and the epochs of the invalidations of its subjects. So a write and an
    /// invalidation that are committed at the same time need no common lock: whichever comes first, the value has the
    /// lower epoch. An invalidation locks the row of the clock until it is committed, so that epochs become visible in
    /// their order.
    @Sendable static func fleet(_ schema: SchemaName) -> String {
      self.fleetTables(schema.quoted) + self.fleetFunctions(schema.quoted) + self.fleetWrites(schema)
        + self.fleetCleaning(schema.quoted)
    }

    private static func fleetTables(_ name: String) -> String {
      """
      CREATE TABLE \(name).fleet_start (id boolean PRIMARY KEY DEFAULT true CHECK (id), number bigint NOT NULL);
      INSERT INTO \(name).fleet_start (number) VALUES (0);
      CREATE UNLOGGED TABLE \(name).fleet_clock (
        id boolean PRIMARY KEY DEFAULT true CHECK (id), start bigint NOT NULL, epoch bigint NOT NULL, floor bigint NOT NULL
      ) WITH (fillfactor = 10);
      INSERT INTO \(name).fleet_clock (start, epoch, floor) VALUES (0, 0, 0);
      CREATE SEQUENCE \(name).fleet_number;
      CREATE UNLOGGED TABLE \(name).fleet_value (
        key bytea PRIMARY KEY, subjects bytea[] NOT NULL, bytes bytea NOT NULL, revision bigint NOT NULL,
        epoch bigint NOT NULL, stored_at timestamptz NOT NULL, ends_at timestamptz NOT NULL
      );
      CREATE INDEX fleet_value_ends_at ON \(name).fleet_value (ends_at);
      CREATE UNLOGGED TABLE \(name).fleet_lease (
        key bytea PRIMARY KEY, owner bytea NOT NULL, token bigint NOT NULL, ends_at timestamptz NOT NULL,
        is_awaited boolean NOT NULL
      );
      CREATE UNLOGGED TABLE \(name).fleet_invalidation (
        subject bytea PRIMARY KEY, epoch bigint NOT NULL, node text NOT NULL, made_at timestamptz NOT NULL
      );
      CREATE INDEX fleet_invalidation_epoch ON \(name).fleet_invalidation (epoch);

      """
    }

    private static func fleetFunctions(_ name: String) -> String {
      """

      -- Sets the clock if a crash has emptied it. The hours keep numbers from being used again after a backup was restored.
      CREATE FUNCTION \(name).fleet_begin() RETURNS void LANGUAGE plpgsql AS $function$
      DECLARE
        number_of_start bigint;
      BEGIN
        IF EXISTS (SELECT FROM \(name).fleet_clock) THEN
          RETURN;
        END IF;
        PERFORM set_config('synchronous_commit', 'on', true);
        UPDATE \(name).fleet_start
          SET number = greatest(number + 1, (extract(epoch FROM clock_timestamp()) / 3600)::bigint)
          RETURNING number INTO number_of_start;
        INSERT INTO \(name).fleet_clock (start, epoch, floor)
          VALUES (number_of_start, number_of_start << 40, number_of_start << 40) ON CONFLICT DO NOTHING;
      END
      $function$;

      CREATE FUNCTION \(name).fleet_clock_now() RETURNS \(name).fleet_clock LANGUAGE plpgsql AS $function$
      DECLARE
        clock \(name).fleet_clock;
      BEGIN
        SELECT * INTO clock FROM \(name).fleet_clock;
        IF NOT FOUND THEN
          PERFORM \(name).fleet_begin();
          SELECT * INTO clock FROM \(name).fleet_clock;
        END IF;
        RETURN clock;
      END
      $function$;

      -- Not inlined, so that each subject is looked up in the index.
      CREATE FUNCTION \(name).fleet_is_invalidated(value_subjects bytea[], value_epoch bigint)
      RETURNS boolean LANGUAGE plpgsql STABLE AS $function$
      BEGIN
        RETURN EXISTS (
          SELECT FROM \(name).fleet_invalidation i
          WHERE i.subject = ANY (value_subjects) AND i.epoch > value_epoch
        );
      END
      $function$;

      CREATE FUNCTION \(name).fleet_next_number(start bigint) RETURNS bigint LANGUAGE sql VOLATILE
        AS $function$ SELECT (start << 40) + nextval('\(name).fleet_number') $function$;

      -- A fresh value with a higher revision, or no row.
      CREATE FUNCTION \(name).fleet_fresh_value(value_key bytea, revision_before bigint)
      RETURNS SETOF \(name).fleet_value LANGUAGE plpgsql AS $function$
      BEGIN
        -- The floor and the invalidations are of one moment: they are forgotten when it is raised.
        RETURN QUERY SELECT v.* FROM \(name).fleet_value v CROSS JOIN \(name).fleet_clock c
          WHERE v.key = value_key AND v.ends_at > clock_timestamp() AND v.epoch >= c.floor
            AND v.revision > revision_before AND NOT \(name).fleet_is_invalidated(v.subjects, v.epoch);
      END
      $function$;

      -- Grants a lease (token), or returns a fresh value (revision), or the holder (owner, remaining).
      CREATE FUNCTION \(name).fleet_acquire_lease(
        lease_key bytea, lease_owner bytea, microseconds bigint, revision_before bigint,
        OUT epoch bigint, OUT token bigint, OUT owner bytea, OUT remaining bigint,
        OUT bytes bytea, OUT revision bigint, OUT value_epoch bigint, OUT age bigint
      ) LANGUAGE plpgsql AS $function$
      DECLARE
        clock \(name).fleet_clock;
        fresh \(name).fleet_value;
        held \(name).fleet_lease;
        moment timestamptz;
        is_locked boolean := false;
      BEGIN
        LOOP
          -- The value is read after the clock: nothing before that epoch is missed.
          clock := \(name).fleet_clock_now();
          epoch := clock.epoch;
          SELECT * INTO fresh FROM \(name).fleet_fresh_value(lease_key, revision_before);
          IF FOUND THEN
            bytes := fresh.bytes;
            revision := fresh.revision;
            value_epoch := fresh.epoch;
            -- The value may have seen an invalidation after that epoch: then this look has seen it, too.
            epoch := greatest(epoch, fresh.epoch);
            age := greatest(0, extract(epoch FROM clock_timestamp() - fresh.stored_at) * 1000000)::bigint;
            RETURN;
          END IF;
          EXIT WHEN is_locked;
          -- Another one may store the value before this one has the lock, so that it is looked for once more.
          INSERT INTO \(name).fleet_lease AS l (key, owner, token, ends_at, is_awaited)
            VALUES (lease_key, '', 0, '-infinity', false) ON CONFLICT DO NOTHING;
          SELECT * INTO held FROM \(name).fleet_lease l WHERE l.key = lease_key FOR UPDATE;
          is_locked := FOUND;
        END LOOP;
        moment := clock_timestamp();
        IF held.ends_at > moment AND held.owner <> lease_owner THEN
          IF NOT held.is_awaited THEN
            UPDATE \(name).fleet_lease l SET is_awaited = true WHERE l.key = lease_key;
          END IF;
          owner := held.owner;
          remaining := ceil(extract(epoch FROM held.ends_at - moment) * 1000000)::bigint;
          RETURN;
        END IF;
        -- A request that has arrived twice leaves the first token valid.
        IF held.ends_at > moment THEN
          token := held.token;
          UPDATE \(name).fleet_lease l SET ends_at = moment + microseconds * interval '1 microsecond'
            WHERE l.key = lease_key;
          RETURN;
        END IF;
        token := \(name).fleet_next_number(clock.start);
        UPDATE \(name).fleet_lease l
          SET owner = lease_owner, token = fleet_acquire_lease.token, is_awaited = false,
            ends_at = moment + microseconds * interval '1 microsecond'
          WHERE l.key = lease_key;
      END
      $function$;

      """
    }

    private static func fleetWrites(_ schema: SchemaName) -> String {
      let name = schema.quoted
      let channel = schema.literal
      return """

        -- Stores a value under a lease: returns its revision, 0 if the lease is not held, -1 if it was invalidated.
        CREATE FUNCTION \(name).fleet_store(
          value_key bytea, value_subjects bytea[], lease_owner bytea, lease_token bigint, value_epoch bigint,
          value_bytes bytea, microseconds bigint, is_announced boolean
        ) RETURNS bigint LANGUAGE plpgsql AS $function$
        DECLARE
          clock \(name).fleet_clock;
          held \(name).fleet_lease;
          number bigint;
          is_invalidated boolean;
        BEGIN
          SELECT * INTO held FROM \(name).fleet_lease l WHERE l.key = value_key FOR UPDATE;
          IF NOT FOUND OR held.owner <> lease_owner OR held.token <> lease_token OR held.ends_at <= clock_timestamp() THEN
            RETURN 0;
          END IF;
          DELETE FROM \(name).fleet_lease l WHERE l.key = value_key;
          clock := \(name).fleet_clock_now();
          SELECT value_epoch < c.floor OR \(name).fleet_is_invalidated(value_subjects, value_epoch)
            INTO is_invalidated FROM \(name).fleet_clock c;
          IF is_invalidated THEN
            IF held.is_awaited THEN
              PERFORM pg_notify(\(channel), 'r' || encode(value_key, 'hex'));
            END IF;
            RETURN -1;
          END IF;
          number := \(name).fleet_next_number(clock.start);
          INSERT INTO \(name).fleet_value (key, subjects, bytes, revision, epoch, stored_at, ends_at)
            VALUES (
              value_key, value_subjects, value_bytes, number, value_epoch, clock_timestamp(),
              clock_timestamp() + microseconds * interval '1 microsecond'
            )
            ON CONFLICT (key) DO UPDATE SET subjects = EXCLUDED.subjects, bytes = EXCLUDED.bytes,
              revision = EXCLUDED.revision, epoch = EXCLUDED.epoch, stored_at = EXCLUDED.stored_at,
              ends_at = EXCLUDED.ends_at;
          IF held.is_awaited OR is_announced THEN
            PERFORM pg_notify(\(channel), 's' || number || ' ' || encode(value_key, 'hex'));
          END IF;
          RETURN number;
        END
        $function$;

        CREATE FUNCTION \(name).fleet_release_lease(lease_key bytea, lease_owner bytea, lease_token bigint)
        RETURNS void LANGUAGE plpgsql AS $function$
        DECLARE
          awaited boolean;
        BEGIN
          DELETE FROM \(name).fleet_lease l
            WHERE l.key = lease_key AND l.owner = lease_owner AND l.token = lease_token AND l.ends_at > clock_timestamp()
            RETURNING l.is_awaited INTO awaited;
          IF awaited THEN
            PERFORM pg_notify(\(channel), 'r' || encode(lease_key, 'hex'));
          END IF;
        END
        $function$;

        -- The row of the clock is locked until the end of the transaction, and with it the order of epochs.
        CREATE FUNCTION \(name).fleet_invalidate(subjects bytea[], node text) RETURNS bigint LANGUAGE plpgsql AS $function$
        DECLARE
          number bigint;
        BEGIN
          PERFORM \(name).fleet_clock_now();
          UPDATE \(name).fleet_clock c SET epoch = c.epoch + 1 RETURNING c.epoch INTO number;
          INSERT INTO \(name).fleet_invalidation AS i (subject, epoch, node, made_at)
            SELECT s, number, fleet_invalidate.node, clock_timestamp() FROM (SELECT DISTINCT unnest(subjects)) AS d (s)
            ON CONFLICT (subject) DO UPDATE
              SET epoch = EXCLUDED.epoch, node = EXCLUDED.node, made_at = EXCLUDED.made_at;
          PERFORM pg_notify(\(channel), 'i' || number);
          RETURN number;
        END
        $function$;

        """
    }

    private static func fleetCleaning(_ name: String) -> String {
      """

      -- Removes values and leases that have ended, and forgets the oldest invalidations: some of each, so that it is short.
      CREATE FUNCTION \(name).fleet_clean_up(kept_invalidations bigint, kept_for interval)
      RETURNS bigint LANGUAGE plpgsql AS $function$
      DECLARE
        removed bigint;
        more bigint;
        last bigint;
      BEGIN
        DELETE FROM \(name).fleet_value v WHERE v.key IN (
          SELECT w.key FROM \(name).fleet_value w WHERE w.ends_at <= clock_timestamp()
          ORDER BY w.ends_at LIMIT 500 FOR UPDATE SKIP LOCKED
        );
        GET DIAGNOSTICS removed = ROW_COUNT;
        DELETE FROM \(name).fleet_lease l WHERE l.key IN (
          SELECT m.key FROM \(name).fleet_lease m WHERE m.ends_at <= clock_timestamp()
          ORDER BY m.key LIMIT 500 FOR UPDATE SKIP LOCKED
        );
        GET DIAGNOSTICS more = ROW_COUNT;
        removed := removed + more;
        SELECT max(o.epoch) INTO last FROM (
          SELECT i.epoch, i.made_at, count(*) OVER () AS taken FROM \(name).fleet_invalidation i
          ORDER BY i.epoch LIMIT 500
        ) o
        WHERE o.made_at < clock_timestamp() - kept_for
          OR o.taken > kept_invalidations;
        IF last IS NOT NULL THEN
          -- Whoever reads the floor sees that they are gone, and whoever does not sees them.
          UPDATE \(name).fleet_clock c SET floor = greatest(c.floor, last);
          DELETE FROM \(name).fleet_invalidation i WHERE i.epoch <= last;
          GET DIAGNOSTICS more = ROW_COUNT;
          removed := removed + more;
        END IF;
        RETURN removed;
      END
      $function$;
      REVOKE ALL ON ALL FUNCTIONS IN SCHEMA \(name) FROM PUBLIC;
      """
    }
  }
#endif
