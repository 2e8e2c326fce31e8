#if SwiftOperationPostgreSQL
  /// The statements of a storage in a schema.
  struct StorageStatements: Sendable {
    let entries: Statement
    let sizes: Statement
    let apply: Statement
    let compared: Statement
    let changes: Statement
    let acquireLease: Statement
    let releaseLease: Statement
    let cleanUp: Statement

    init(_ schema: SchemaName) {
      let name = schema.quoted
      func reading(_ columns: String) -> Statement {
        Statement(
          """
          SELECT \(columns) FROM \(name).entry
          WHERE head >= $1 AND head < $2 AND pg_catalog.substring(head || rest, 1, pg_catalog.length($3)) = $3
          ORDER BY head, rest
          """,
          .bytes,
          .bytes,
          .bytes
        )
      }
      self.entries = reading("head || rest, value")
      self.sizes = reading("head || rest, pg_catalog.length(value)")
      // The function makes a batch that only removes entries without a wait for the disk. For others that have to wait, what was
      // set before is set again: read first, because an argument needs it, and set with each row that the function has returned.
      self.apply = Statement(
        """
        WITH before AS MATERIALIZED (SELECT pg_catalog.current_setting('synchronous_commit') AS chosen)
        SELECT refused, changed_prefix, changed_stripe, batch_before,
          CASE WHEN $7 THEN pg_catalog.set_config('synchronous_commit', chosen, true) END
        FROM before, LATERAL \(name).apply_changes(CASE WHEN chosen <> '' THEN $1 END, $2, $3, $4, $5, $6)
        """,
        .bytes,
        .byteArray,
        .byteArray,
        .byteArray,
        .byteArray,
        .integerArray,
        .boolean
      )
      self.compared = Statement(
        """
        SELECT c.position, e.value, e.xmin::text::bigint
        FROM pg_catalog.unnest($1) WITH ORDINALITY AS c (k, position)
        JOIN \(name).entry e ON e.head = pg_catalog.substring(c.k, 1, 1000)
          AND e.digest = \(name).digest(pg_catalog.substring(c.k, 1001))
        """,
        .byteArray
      )
      self.changes = Statement("SELECT stripe::bigint, last FROM \(name).entry_change WHERE prefix = $1", .bytes)
      // The owner is that of the moment before.
      self.acquireLease = Statement(
        "SELECT \(name).acquire_lease($1, $2, $3), (SELECT owner FROM \(name).lease WHERE name = $1)",
        .bytes,
        .bytes,
        .integer
      )
      self.releaseLease = Statement("DELETE FROM \(name).lease WHERE name = $1 AND owner = $2", .bytes, .bytes)
      self.cleanUp = Statement("SELECT \(name).clean_up()")
    }

    /// The parameters of `entries` and `sizes`: the bounds of the index, and the prefix itself.
    static func parameters(ofPrefix prefix: String) -> [QueryValue] {
      let head = Array(prefix.utf8.prefix(1_000))
      // No key has the byte 0xFF, because UTF-8 has none.
      return [.bytes(head), .bytes(head + [0xFF]), .bytes(Array(prefix.utf8))]
    }
  }
#endif
