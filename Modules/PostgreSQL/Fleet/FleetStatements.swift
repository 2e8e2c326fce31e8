#if SwiftOperationPostgreSQL
  /// The statements of a fleet in a schema.
  ///
  /// Those that write let their commit return before it is on the disk, as a crash empties the tables anyway: for their
  /// transaction only, since a session may be shared.
  struct FleetStatements: Sendable {
    let begin: Statement
    let lookUp: Statement
    let acquireLeases: Statement
    let renewLease: Statement
    let releaseLease: Statement
    let store: Statement
    let invalidate: Statement
    let invalidations: Statement
    let cleanUp: Statement
    let listen: Statement
    let isListening: Statement

    init(_ schema: SchemaName) {
      let name = schema.quoted
      // The arguments of a function are computed before it: one that needs its commit on the disk, as after a crash, says so.
      func notDurable(_ parameter: String) -> String {
        "CASE pg_catalog.set_config('synchronous_commit', 'off', true) WHEN 'off' THEN \(parameter) END"
      }
      self.begin = Statement("SELECT \(name).fleet_begin()::text")
      // One statement sees one moment. The offset keeps the planner from joining all values: each key is looked up in the index.
      self.lookUp = Statement(
        """
        SELECT c.epoch, v.bytes, v.revision, v.epoch,
          greatest(0, extract(epoch FROM pg_catalog.clock_timestamp() - v.stored_at) * 1000000)::bigint
        FROM \(name).fleet_moment() c CROSS JOIN pg_catalog.unnest($1) WITH ORDINALITY AS k (key, place)
        LEFT JOIN LATERAL (
          SELECT * FROM \(name).fleet_value w
          WHERE w.key = k.key AND w.ends_at > pg_catalog.clock_timestamp() AND w.epoch >= c.floor
            AND NOT \(name).fleet_is_invalidated(w.subjects, w.epoch)
          OFFSET 0
        ) v ON true
        ORDER BY k.place
        """,
        .byteArray
      )
      self.acquireLeases = Statement(
        """
        SELECT place, epoch, token, owner, remaining, bytes, revision, value_epoch, age
        FROM \(name).fleet_acquire_leases($1, $2, $3, \(notDurable("$4")))
        """,
        .byteArray,
        .byteArray,
        .integerArray,
        .integerArray
      )
      self.renewLease = Statement(
        """
        UPDATE \(name).fleet_lease SET ends_at = pg_catalog.clock_timestamp() + $4 * interval '1 microsecond'
        WHERE key = $1 AND owner = $2 AND token = $3 AND ends_at > pg_catalog.clock_timestamp() RETURNING true
        """,
        .bytes,
        .bytes,
        .integer,
        .integer
      )
      self.releaseLease = Statement(
        "SELECT \(name).fleet_release_lease($1, $2, \(notDurable("$3")))::text",
        .bytes,
        .bytes,
        .integer
      )
      self.store = Statement(
        "SELECT \(name).fleet_store($1, $2, $3, $4, $5, $6, $7, \(notDurable("$8")))",
        .bytes,
        .byteArray,
        .bytes,
        .integer,
        .integer,
        .bytes,
        .integer,
        .boolean
      )
      self.invalidate = Statement("SELECT \(name).fleet_invalidate($1, \(notDurable("$2")))", .byteArray, .text)
      self.invalidations = Statement(
        """
        SELECT c.epoch, $1 < c.floor OR $1 > c.epoch, i.subject, i.epoch, i.node
        FROM \(name).fleet_moment() c LEFT JOIN LATERAL (
          SELECT * FROM \(name).fleet_invalidation j WHERE j.epoch > $1 AND $1 >= c.floor ORDER BY j.epoch LIMIT $2
        ) i ON true
        """,
        .integer,
        .integer
      )
      self.cleanUp = Statement(
        """
        SELECT removed, has_more FROM \(name).fleet_clean_up(
          $1 * interval '1 microsecond', $2 * interval '1 microsecond', $3, $4, \(notDurable("$5")), $6 * interval '1 second'
        )
        """,
        .integer,
        .integer,
        .integer,
        .integer,
        .integer,
        .integer
      )
      self.listen = Statement(script: "LISTEN \(name)")
      self.isListening = Statement(
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_listening_channels() AS c (name) WHERE c.name = \(schema.literal))"
      )
    }
  }
#endif
