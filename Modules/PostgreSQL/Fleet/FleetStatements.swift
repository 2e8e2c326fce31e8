#if SwiftOperationPostgreSQL
  /// The statements of a fleet in a schema.
  struct FleetStatements: Sendable {
    let begin: Statement
    let lookUp: Statement
    let acquireLease: Statement
    let renewLease: Statement
    let releaseLease: Statement
    let store: Statement
    let invalidate: Statement
    let invalidations: Statement
    let cleanUp: Statement
    let listen: Statement

    init(_ schema: SchemaName) {
      let name = schema.quoted
      self.begin = Statement("SELECT \(name).fleet_begin()::text")
      // One statement sees one moment. The offset keeps the planner from joining all values: each key is looked up in the index.
      self.lookUp = Statement(
        """
        SELECT c.epoch, v.bytes, v.revision, v.epoch,
          greatest(0, extract(epoch FROM clock_timestamp() - v.stored_at) * 1000000)::bigint
        FROM \(name).fleet_clock c CROSS JOIN unnest($1) WITH ORDINALITY AS k (key, place)
        LEFT JOIN LATERAL (
          SELECT * FROM \(name).fleet_value w
          WHERE w.key = k.key AND w.ends_at > clock_timestamp() AND w.epoch >= c.floor
            AND NOT \(name).fleet_is_invalidated(w.subjects, w.epoch)
          OFFSET 0
        ) v ON true
        ORDER BY k.place
        """,
        .byteArray
      )
      self.acquireLease = Statement(
        """
        SELECT epoch, token, owner, remaining, bytes, revision, value_epoch, age
        FROM \(name).fleet_acquire_lease($1, $2, $3, $4)
        """,
        .bytes,
        .bytes,
        .integer,
        .integer
      )
      self.renewLease = Statement(
        """
        UPDATE \(name).fleet_lease SET ends_at = clock_timestamp() + $4 * interval '1 microsecond'
        WHERE key = $1 AND owner = $2 AND token = $3 AND ends_at > clock_timestamp() RETURNING true
        """,
        .bytes,
        .bytes,
        .integer,
        .integer
      )
      self.releaseLease = Statement(
        "SELECT \(name).fleet_release_lease($1, $2, $3)::text",
        .bytes,
        .bytes,
        .integer
      )
      self.store = Statement(
        "SELECT \(name).fleet_store($1, $2, $3, $4, $5, $6, $7, $8)",
        .bytes,
        .byteArray,
        .bytes,
        .integer,
        .integer,
        .bytes,
        .integer,
        .boolean
      )
      self.invalidate = Statement("SELECT \(name).fleet_invalidate($1, $2)", .byteArray, .text)
      self.invalidations = Statement(
        """
        SELECT c.epoch, $1 < c.floor OR $1 > c.epoch, i.subject, i.epoch, i.node
        FROM \(name).fleet_clock c LEFT JOIN LATERAL (
          SELECT * FROM \(name).fleet_invalidation j WHERE j.epoch > $1 AND $1 >= c.floor ORDER BY j.epoch LIMIT $2
        ) i ON true
        """,
        .integer,
        .integer
      )
      self.cleanUp = Statement("SELECT \(name).fleet_clean_up($1, $2 * interval '1 second')", .integer, .integer)
      self.listen = Statement(script: "LISTEN \(name)")
    }
  }
#endif
