#if SwiftOperationPostgreSQL
  extension SchemaMigration {
    /// Epochs without a row that each invalidation writes, and an index of the ends of leases.
    ///
    /// PostgreSQL keeps each version of a row while a transaction is open that may see it, as during a dump, and whoever looks
    /// for the newest version passes the others. So nothing here looks for a row that is written again and again: an
    /// invalidation is a new row, and the newest one of all, or of a subject, is the first that an index returns from its end.
    ///
    /// The epoch of a moment is that of the newest invalidation, or the floor. An invalidation holds a lock until it is
    /// committed, so that epochs become visible in their order. The row of the clock is written after a crash, and when the
    /// floor is raised.
    @Sendable static func clock(_ schema: SchemaName) -> String {
      let name = schema.quoted
      return self.clockTables(name) + self.clockReads(name) + self.clockWrites(schema) + self.clockCleaning(schema)
    }

    /// The number of the lock of invalidations, which the stripes of the storage do not reach.
    static let invalidationLock = 64

    private static func clockTables(_ name: String) -> String {
      """
      UPDATE \(name).fleet_clock c SET floor = c.epoch
        WHERE c.epoch > (SELECT coalesce(max(i.epoch), 0) FROM \(name).fleet_invalidation i);
      DROP FUNCTION \(name).fleet_clock_now();
      ALTER TABLE \(name).fleet_clock DROP COLUMN epoch;
      ALTER TABLE \(name).fleet_invalidation DROP CONSTRAINT fleet_invalidation_pkey;
      ALTER TABLE \(name).fleet_invalidation ADD PRIMARY KEY (subject, epoch);
      CREATE INDEX fleet_lease_ends_at ON \(name).fleet_lease (ends_at);

      """
    }

    private static func clockReads(_ name: String) -> String {
      """

      -- The epoch and the floor of the moment of the statement; no row if the clock was not set since a crash. Not inlined, and
      -- without scans of a table whose size the planner does not know, nor a compilation because of what these would cost.
      CREATE FUNCTION \(name).fleet_moment() RETURNS TABLE (start bigint, epoch bigint, floor bigint)
      LANGUAGE plpgsql STABLE ROWS 1
      SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $function$
      BEGIN
        RETURN QUERY SELECT c.start, greatest(c.floor, (
          SELECT i.epoch FROM \(name).fleet_invalidation i ORDER BY i.epoch DESC LIMIT 1
        )), c.floor FROM \(name).fleet_clock c WHERE c.id;
      END
      $function$;

      CREATE OR REPLACE FUNCTION \(name).fleet_begin() RETURNS void
      LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $function$
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
        INSERT INTO \(name).fleet_clock (start, floor) VALUES (number_of_start, number_of_start << 40)
          ON CONFLICT DO NOTHING;
      END
      $function$;

      -- As above, and sets the clock if that has to be done.
      CREATE FUNCTION \(name).fleet_moment_now() RETURNS TABLE (start bigint, epoch bigint, floor bigint)
      LANGUAGE plpgsql AS $function$
      BEGIN
        RETURN QUERY SELECT * FROM \(name).fleet_moment();
        IF NOT FOUND THEN
          PERFORM \(name).fleet_begin();
          RETURN QUERY SELECT * FROM \(name).fleet_moment();
        END IF;
      END
      $function$;

      -- The newest invalidation of each subject after the epoch, from the end of the index.
      CREATE OR REPLACE FUNCTION \(name).fleet_is_invalidated(value_subjects bytea[], value_epoch bigint)
      RETURNS boolean LANGUAGE plpgsql STABLE
      SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $function$
      BEGIN
        RETURN EXISTS (
          SELECT FROM unnest(value_subjects) AS s (subject) WHERE (
            SELECT i.epoch FROM \(name).fleet_invalidation i
            WHERE i.subject = s.subject AND i.epoch > value_epoch ORDER BY i.epoch DESC LIMIT 1
          ) IS NOT NULL
        );
      END
      $function$;

      """
    }

    private static func clockWrites(_ schema: SchemaName) -> String {
      let name = schema.quoted
      return """

        CREATE OR REPLACE FUNCTION \(name).fleet_acquire_lease(
          lease_key bytea, lease_owner bytea, microseconds bigint, revision_before bigint,
          OUT epoch bigint, OUT token bigint, OUT owner bytea, OUT remaining bigint,
          OUT bytes bytea, OUT revision bigint, OUT value_epoch bigint, OUT age bigint
        ) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $function$
        DECLARE
          fresh \(name).fleet_value;
          held \(name).fleet_lease;
          start bigint;
          moment timestamptz;
          is_locked boolean := false;
        BEGIN
          LOOP
            -- The value is read after the epoch: nothing before that epoch is missed.
            SELECT m.start, m.epoch INTO start, epoch FROM \(name).fleet_moment_now() m;
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
          token := \(name).fleet_next_number(start);
          UPDATE \(name).fleet_lease l
            SET owner = lease_owner, token = fleet_acquire_lease.token, is_awaited = false,
              ends_at = moment + microseconds * interval '1 microsecond'
            WHERE l.key = lease_key;
        END
        $function$;

        CREATE OR REPLACE FUNCTION \(name).fleet_store(
          value_key bytea, value_subjects bytea[], lease_owner bytea, lease_token bigint, value_epoch bigint,
          value_bytes bytea, microseconds bigint, is_announced boolean
        ) RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $function$
        DECLARE
          held \(name).fleet_lease;
          number_of_start bigint;
          number bigint;
          is_invalidated boolean;
        BEGIN
          SELECT * INTO held FROM \(name).fleet_lease l WHERE l.key = value_key FOR UPDATE;
          IF NOT FOUND OR held.owner <> lease_owner OR held.token <> lease_token OR held.ends_at <= clock_timestamp() THEN
            RETURN 0;
          END IF;
          DELETE FROM \(name).fleet_lease l WHERE l.key = value_key;
          PERFORM \(name).fleet_moment_now();
          -- The floor and the invalidations are of one moment: they are forgotten when it is raised.
          SELECT c.start, value_epoch < c.floor OR \(name).fleet_is_invalidated(value_subjects, value_epoch)
            INTO number_of_start, is_invalidated FROM \(name).fleet_clock c;
          IF is_invalidated THEN
            IF held.is_awaited THEN
              PERFORM pg_notify(\(schema.literal), 'r' || encode(value_key, 'hex'));
            END IF;
            RETURN -1;
          END IF;
          number := \(name).fleet_next_number(number_of_start);
          INSERT INTO \(name).fleet_value (key, subjects, bytes, revision, epoch, stored_at, ends_at)
            VALUES (
              value_key, value_subjects, value_bytes, number, value_epoch, clock_timestamp(),
              clock_timestamp() + microseconds * interval '1 microsecond'
            )
            ON CONFLICT (key) DO UPDATE SET subjects = EXCLUDED.subjects, bytes = EXCLUDED.bytes,
              revision = EXCLUDED.revision, epoch = EXCLUDED.epoch, stored_at = EXCLUDED.stored_at,
              ends_at = EXCLUDED.ends_at;
          IF held.is_awaited OR is_announced THEN
            PERFORM pg_notify(\(schema.literal), 's' || number || ' ' || encode(value_key, 'hex'));
          END IF;
          RETURN number;
        END
        $function$;

        -- The lock is held until the end of the transaction, and with it the order of epochs. Each statement sees what is
        -- committed, so that the one after the lock sees all invalidations before this one.
        CREATE OR REPLACE FUNCTION \(name).fleet_invalidate(subjects bytea[], node text) RETURNS bigint
        LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $function$
        DECLARE
          number bigint;
          invalidated bytea;
          earlier bigint;
        BEGIN
          PERFORM pg_advisory_xact_lock(\(schema.lockNumber), \(self.invalidationLock));
          SELECT m.epoch + 1 INTO number FROM \(name).fleet_moment_now() m;
          FOR invalidated IN SELECT DISTINCT unnest(subjects) LOOP
            -- It takes the place of the earlier one. A row that is written again would have all its versions in the index.
            SELECT i.epoch INTO earlier FROM \(name).fleet_invalidation i
              WHERE i.subject = invalidated ORDER BY i.epoch DESC LIMIT 1;
            IF FOUND THEN
              DELETE FROM \(name).fleet_invalidation i WHERE i.subject = invalidated AND i.epoch = earlier;
            END IF;
            INSERT INTO \(name).fleet_invalidation (subject, epoch, node, made_at)
              VALUES (invalidated, number, fleet_invalidate.node, clock_timestamp());
          END LOOP;
          PERFORM pg_notify(\(schema.literal), 'i' || number);
          RETURN number;
        END
        $function$;

        """
    }
  }
#endif
