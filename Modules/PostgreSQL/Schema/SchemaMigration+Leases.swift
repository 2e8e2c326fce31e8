#if SwiftOperationPostgreSQL
  extension SchemaMigration {
    /// The function that asks for several leases in one statement.
    ///
    /// Each row of a lease is locked until the end of the statement. All calls lock them in the order of their keys, so that
    /// none waits for another one that waits for it.
    @Sendable static func leases(_ schema: SchemaName) -> String {
      let name = schema.quoted
      return """
        CREATE FUNCTION \(name).fleet_acquire_leases(
          lease_keys bytea[], lease_owners bytea[], microseconds bigint[], revisions_before bigint[]
        ) RETURNS TABLE (
          place bigint, epoch bigint, token bigint, owner bytea, remaining bigint, bytes bytea, revision bigint,
          value_epoch bigint, age bigint
        ) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $function$
        DECLARE
          request record;
        BEGIN
          FOR request IN
            SELECT r.* FROM unnest(lease_keys, lease_owners, microseconds, revisions_before)
              WITH ORDINALITY AS r (key, owner, duration, revision, place)
            ORDER BY r.key, r.place
          LOOP
            RETURN QUERY SELECT request.place, a.*
              FROM \(name).fleet_acquire_lease(request.key, request.owner, request.duration, request.revision) AS a;
          END LOOP;
        END
        $function$;
        REVOKE ALL ON ALL FUNCTIONS IN SCHEMA \(name) FROM PUBLIC;
        """
    }
  }
#endif
